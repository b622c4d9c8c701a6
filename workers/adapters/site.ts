// Groups hosts into sites by the Public Suffix List. Without the list, `a.co.uk` and `b.co.uk`, or two blogs at the same hosting company,
// would look like one site.
import { getDomain } from "tldts";

/** Returns a host's registrable domain. Returns null for an IP address, a single label or a public suffix. */
export const getRegistrableDomain = (hostname: string): string | null => getDomain(hostname, { allowPrivateDomains: true });

/** Returns a host's registrable domain. If it does not have one (IP address, `localhost`, public suffix), returns the host itself. */
export const getSite = (hostname: string): string => getRegistrableDomain(hostname) ?? hostname;
