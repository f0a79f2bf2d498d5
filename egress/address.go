package egress

import (
	"net/netip"
	"strings"

	"code.dny.dev/ssrf"
)

// kind says what an address is, in the words of a refusal; only public ones are of the public internet.
type kind string

const (
	public        kind = ""
	metadata      kind = "a cloud metadata address"
	zoned         kind = "an address with a zone"
	embedded      kind = "an IPv6 form of an IPv4 address"
	loopback      kind = "a loopback address"
	unspecified   kind = "the unspecified address"
	privateUse    kind = "a private address"
	linkLocal     kind = "a link-local address"
	multicast     kind = "a multicast address"
	carrierShared kind = "an address of a carrier's own network"
	reserved      kind = "a reserved address"
)

// general reports whether an address of this kind is among "all private destinations". Metadata services hand out
// credentials, and where an address with a zone or in translation leads depends on the network.
func (k kind) general() bool { return k != metadata && k != zoned && k != embedded }

// guardian knows the special-purpose registries of IANA for both address families.
var guardian = ssrf.New(ssrf.WithAnyNetwork(), ssrf.WithAnyPort())

var (
	sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

	// embeddings are the IPv6 ranges that stand for IPv4 addresses. Mapped addresses are no part of them: they are
	// unmapped and judged as IPv4.
	embeddings = []netip.Prefix{
		netip.MustParsePrefix("::/96"),           // compatible
		netip.MustParsePrefix("::ffff:0:0:0/96"), // translated (SIIT)
		netip.MustParsePrefix("64:ff9b::/96"),    // NAT64
		netip.MustParsePrefix("64:ff9b:1::/48"),  // NAT64, local use
		netip.MustParsePrefix("2001::/32"),       // Teredo
		netip.MustParsePrefix("2002::/16"),       // 6to4
	}

	// metadataAddrs are where clouds serve credentials and user data to their machines.
	metadataAddrs = map[netip.Addr]bool{
		netip.MustParseAddr("169.254.169.254"): true, // AWS, Google, Azure, Oracle, DigitalOcean and others
		netip.MustParseAddr("169.254.170.2"):   true, // AWS container credentials
		netip.MustParseAddr("169.254.170.23"):  true, // AWS pod identity
		netip.MustParseAddr("fd00:ec2::254"):   true, // AWS over IPv6
		netip.MustParseAddr("fd00:ec2::23"):    true, // AWS pod identity over IPv6
		netip.MustParseAddr("fd20:ce::254"):    true, // Google over IPv6
		netip.MustParseAddr("100.100.100.200"): true, // Alibaba
		netip.MustParseAddr("192.0.0.192"):     true, // Oracle, older
		netip.MustParseAddr("169.254.0.23"):    true, // Tencent
		netip.MustParseAddr("168.63.129.16"):   true, // Azure's host agent; looks public
	}

	// metadataNames are their names. They resolve inside the cloud only, so a lookup elsewhere would prove nothing.
	metadataNames = map[string]bool{
		"metadata": true, "metadata.google.internal": true, "metadata.goog": true, "instance-data": true,
		"instance-data.ec2.internal": true, "metadata.tencentyun.com": true,
	}
)

// isLocalhost reports whether Chromium takes the name for this machine without a lookup.
func isLocalhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// kindOf sorts an unmapped address.
func kindOf(addr netip.Addr) kind {
	switch {
	case addr.Zone() != "":
		return zoned
	case metadataAddrs[addr]:
		return metadata
	case addr.IsLoopback():
		return loopback
	case addr.IsUnspecified():
		return unspecified
	case addr.IsPrivate():
		return privateUse
	case addr.IsLinkLocalUnicast():
		return linkLocal
	case addr.IsMulticast():
		return multicast
	case sharedSpace.Contains(addr):
		return carrierShared
	}
	for _, p := range embeddings {
		if p.Contains(addr) {
			return embedded
		}
	}
	if guardian.SafeAddr(addr) != nil {
		return reserved
	}
	return public
}
