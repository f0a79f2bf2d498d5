package pagehand

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pagehand/pagehand/internal/page"
)

var formMembers = []Member{
	onTab("form_input", "Set a form element's value directly.", formInput),
}

// formValue is a string, number or boolean.
type formValue struct{ value any }

func (v *formValue) decodeWire(field string, raw json.RawMessage) error {
	if err := json.Unmarshal(raw, &v.value); err != nil {
		return toolErrorf("%s must be a string, number or boolean, not %s.", field, shown(raw))
	}
	switch v.value.(type) {
	case string, float64, bool:
		return nil
	}
	return toolErrorf("%s must be a string, number or boolean, not %s.", field, shown(raw))
}

func (formValue) schema() map[string]any {
	return map[string]any{"type": []string{"string", "number", "boolean"}}
}

type formInputInput struct {
	Target RefTarget `json:"target" need:"true" doc:"The form element."`
	Value  formValue `json:"value" need:"true" doc:"The value; a boolean for a checkbox, an option's value or text for a select."`
	tabInput
}

func formInput(ctx context.Context, t *tab, in formInputInput) (output, error) {
	var set page.Set
	var err error
	settled, err := t.act(ctx, func() error {
		set, err = t.page.SetValue(ctx, in.Target.Ref, in.Value.value)
		return err
	})
	if err != nil {
		return output{}, err
	}
	return say(setText(in.Target.Ref, set) + t.outcome(settled))
}

func setText(ref string, set page.Set) string {
	text := "Set " + ref + "."
	if set.Secret != nil {
		text = fmt.Sprintf("Set %s. Its value is not shown.", ref)
	} else if set.Now != nil {
		now, err := json.Marshal(set.Now)
		if err == nil {
			text = fmt.Sprintf("Set %s to %s.", ref, shorten(string(now), 200))
		}
	}
	if complaint, ok := set.Invalid.(string); ok && complaint != "" {
		text += " The browser finds it invalid: " + complaint
	}
	if set.Suggests {
		text += " The field expects a choice from its suggestions"
		if len(set.Options) > 0 {
			text += ": " + strings.Join(set.Options, ", ")
		}
		text += "."
	}
	if set.Note != "" {
		text += " " + set.Note
	}
	return text
}
