package conform_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pagehand/pagehand/conform"
)

// faults are what an executor may do wrong, one at a time, and the checks that must notice.
var faults = []struct {
	name   string
	checks string
}{
	{"goes on after a failure", "s1.halt-nothing-runs s1.halt-tab-management s1.halt-by-bad-input"},
	{"another halt text", "s1.halt-text s1.halt-by-tab-management"},
	{"halted calls succeed", "s1.halt-text"},
	{"drops halted calls", "s1.halt-text s1.halt-ends-with-turn"},
	{"runs custom tools", "s1.foreign-same-name"},
	{"answers foreign calls", "s1.foreign-custom"},
	{"runs other toolsets", "s1.foreign-computer s1.foreign-only"},
	{"answers where nothing was asked", "s1.no-calls s1.foreign-only"},
	{"reverses results", "s1.batch-order s1.halt-keeps-before"},
	{"answers as assistant", "s1.one-result"},
	{"wrong id", "s2.members-pointer"},
	{"renders the footer", "s1.no-rendered-text"},
	{"silent", "s1.one-result"},
	{"errors as success", "s4.unknown-tab s7.error-text-only"},
	{"errors without toolset_name", "s2.unknown-member"},
	{"errors without prefix", "s4.unknown-tab s7.error-of-tab-management"},
	{"disabled members run", "s2.disabled s1.halt-by-disabled-member"},
	{"another text for disabled members", "s2.disabled s2.off-file-upload"},
	{"optional members are on", "s2.off-read-console"},
	{"unknown members are not named", "s2.unknown-member"},
	{"names in any case", "s2.unknown-member-case"},

	{"coordinates are not bounded", "s3.coordinate-outside-right s3.coordinate-outside-bottom s3.coordinate-outside-drag s3.coordinate-outside-everywhere"},
	{"coordinates may be fractional", "s3.coordinate-fraction"},
	{"any target is taken", "s3.coordinate-only s3.ref-only"},
	{"stale refs are not named", "s3.stale-unknown s3.stale-every-member"},
	{"another stale text", "s3.stale-unknown s3.stale-after-navigation"},
	{"refs outlive navigation", "s3.stale-after-navigation s3.stale-after-link s3.stale-after-reload"},
	{"refs are renumbered", "s3.ref-same-element"},
	{"ref numbers begin again", "s3.ref-number-not-reused"},
	{"ref numbers are per tab", "s3.ref-unique-across-tabs"},
	{"refs work on every tab", "s3.stale-on-other-tab"},
	{"a reading's ref is ignored", "s3.ref-subtree"},
	{"depth is not bounded below", "s3.depth-bounds"},
	{"depth may be fractional", "s3.depth-integer"},
	{"repeat is not bounded above", "s3.repeat-bounds"},
	{"repeat may be fractional", "s3.repeat-integer"},
	{"scroll_amount is not bounded above", "s3.scroll-amount-bounds"},
	{"scroll_amount is not bounded below", "s3.scroll-amount-bounds"},
	{"scroll_amount may be fractional", "s3.scroll-amount-integer"},
	{"duration is not bounded above", "s3.wait-bounds s3.hold-key-bounds"},
	{"duration is not bounded below", "s3.wait-bounds s3.hold-key-bounds"},
	{"durations are integers", "s3.wait-fraction s3.hold-key-bounds"},
	{"regions may be outside", "s3.region-inside"},
	{"regions may be empty", "s3.region-order"},
	{"null is a value", "s3.null-readings s3.null-pointer s3.null-keyboard"},
	{"unknown fields are ignored", "s3.unknown-field-navigate s3.unknown-field-clicks s3.unknown-field-tabs s3.target-unknown-field"},
	{"screenshots grow", "s3.screenshot-size"},
	{"screenshots are not scaled", "s3.screenshot-fits-wide s3.screenshot-fits-tall s7.images-many"},

	{"navigate names the asked address", "s4.navigate-redirect"},
	{"navigate is silent", "s4.navigate s1.no-rendered-text"},
	{"no state on navigation", "s4.navigate-state"},
	{"history does not move", "s4.navigate-back-forward"},
	{"another timeout text", "s4.navigate-timeout"},
	{"schemes are judged by prefix", "s4.scheme-prefix"},
	{"about:blank is allowed", "s4.scheme-about"},
	{"another refusal", "s4.scheme-file s4.scheme-by-parser"},
	{"no scheme means http", "s4.no-scheme"},
	{"screenshot state without text", "s4.screenshot-text"},
	{"zoom is stretched", "s4.zoom-ratio"},
	{"zoom only crops", "s4.zoom-size"},
	{"the interactive filter is ignored", "s4.read-page-interactive"},
	{"readings ignore the viewport", "s4.read-page-visible"},
	{"depth is ignored", "s4.read-page-depth"},
	{"readings have no bound", "s4.read-page-cap"},
	{"the cut is silent", "s4.read-page-cap"},
	{"the note is not counted", "s4.read-page-cap"},
	{"the cap counts bytes", "s4.read-page-cap-code-points"},
	{"passwords are read", "s4.password-value"},
	{"passwords are told", "s4.password-typed"},
	{"hidden text is read", "s4.hidden-display-none s4.hidden-attribute"},
	{"hidden text in get_page_text", "s4.hidden-display-none"},
	{"hidden text in find", "s4.hidden-attribute"},
	{"find has no bound", "s4.find-most"},
	{"disabled fields are set", "s4.form-disabled"},
	{"anything is set", "s4.form-not-a-field"},
	{"empty text", "s7.empty-page"},
	{"unknown tabs are not named", "s4.unknown-tab s4.unknown-tab-everywhere"},
	{"a tab_id activates", "s4.tab-id-keeps-active s4.navigate-tab-id"},
	{"lists tabs as text", "s4.list-tabs"},
	{"text beside new tabs", "s4.new-tab"},
	{"nothing for the same tab", "s4.switch-tab-same"},
	{"new tabs stay behind", "s4.new-tab"},
	{"new tabs are not reported", "s4.new-tab s5.new-tab-one-change"},
	{"the last tab stays", "s4.close-tab-last s4.no-tab-open"},
	{"closing activates the first", "s4.close-tab-other"},

	{"state on errors", "s7.error-text-only s4.unknown-tab"},
	{"two states", "s5.inventory"},
	{"tabs as a delta", "s5.inventory s5.popup"},
	{"popups become active", "s5.popup"},
	{"popups are not reported", "s5.popup s5.popup-of-its-call"},
	{"popups are reported again", "s5.popup-once"},
	{"tab ids are reused", "s5.tab-id-not-reused"},
	{"no tab becomes active", "s5.close-active"},
	{"empty state_changes", "s4.list-tabs"},
	{"titles are not cut", "s5.title-limit"},
	{"titles are cut in bytes", "s5.title-limit-characters"},
	{"titles keep control characters", "s5.title-control"},
	{"titles keep line separators", "s5.title-line-separator"},
	{"titles are escaped", "s5.title-not-escaped"},
	{"keeps userinfo", "s5.url-userinfo"},
	{"downloads do not start", "s5.download-started"},
	{"downloads end twice", "s5.download-completed"},
	{"downloads tell the first address", "s5.download-redirected"},
	{"downloads keep credentials", "s5.download-credentials"},
	{"downloads share an id", "s5.download-ids"},
	{"loses downloads on errors", "s5.download-carried"},
	{"broken downloads complete", "s5.download-failed"},
	{"sizes are wrong", "s5.download-size"},
	{"undeclared fields", "s5.download-completed"},
	{"every host is allowed", "s8.private-refused"},
	{"redirects are not checked", "s8.redirect-refused"},
}

// controls pass whatever the fault: what they need is not touched by any.
var controls = strings.Fields("s4.read-page-lines s4.find-nothing s4.page-text s4.click-acknowledged s4.read-page-text")

// total are the faults that break everything, so that no control can pass.
var total = []string{"silent", "answers as assistant"}

func TestFaults(t *testing.T) {
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			must := strings.Fields(fault.checks)
			for _, o := range run(t, inMemory(fault.name), named(t, must)).Outcomes {
				if o.Verdict != conform.Fail {
					t.Errorf("not noticed: %v", o)
				}
			}
			if slices.Contains(total, fault.name) {
				return
			}
			for _, o := range run(t, inMemory(fault.name), named(t, controls)).Outcomes {
				if o.Verdict != conform.Pass {
					t.Errorf("a control: %v", o)
				}
			}
		})
	}
}

// TestWithoutFault runs all checks that the faults must fail on an executor without one.
func TestWithoutFault(t *testing.T) {
	ids := slices.Clone(controls)
	for _, fault := range faults {
		ids = append(ids, strings.Fields(fault.checks)...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, o := range run(t, inMemory(""), named(t, ids)).Outcomes {
		if o.Verdict != conform.Pass {
			t.Error(o)
		}
	}
	t.Logf("%d faults, %d checks that notice them", len(faults), len(ids)-len(controls))
}

const checkTimeout = 5 * time.Second

func run(t *testing.T, start conform.Start, checks []conform.Check) *conform.Report {
	t.Helper()
	report, err := conform.Run(context.Background(), start, conform.Options{Checks: checks, Timeout: checkTimeout})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// named finds checks by their ids.
func named(t *testing.T, ids []string) []conform.Check {
	t.Helper()
	checks := slices.DeleteFunc(conform.Checks(), func(c conform.Check) bool { return !slices.Contains(ids, c.ID) })
	if len(checks) != len(ids) {
		t.Fatalf("%d of the checks %v exist", len(checks), ids)
	}
	return checks
}

// TestChecks checks what every check has.
func TestChecks(t *testing.T) {
	checks := conform.Checks()
	if len(checks) < 150 {
		t.Errorf("%d checks, want 150", len(checks))
	}
	id := regexp.MustCompile(`^s[1-9]\.[a-z0-9]+(-[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, c := range checks {
		if !id.MatchString(c.ID) || seen[c.ID] || c.Section() != "§"+c.ID[1:2] {
			t.Errorf("the id %s is not one, or another check's too", c.ID)
		}
		if !strings.HasSuffix(c.Title, ".") || strings.Contains(c.Title, "{{") {
			t.Errorf("the title of %s is no sentence: %s", c.ID, c.Title)
		}
		seen[c.ID] = true
	}
}
