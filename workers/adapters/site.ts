// Groups hosts into sites with the Public Suffix List. Without the list, `a.co.uk` and `b.co.uk`, or two blogs at one hosting company,
// would look like one site.
import { getDomain } from "tldts";

/** Returns a host's registrable domain, or null for an IP address, a single label or a public suffix. */
export const getRegistrableDomain = (hostname: string): string | null => getDomain(hostname, { allowPrivateDomains: true });

/** Returns a host's registrable domain, or the host itself if it has none (IP address, `localhost`, public suffix). */
export const getSite = (hostname: string): string => getRegistrableDomain(hostname) ?? hostname;
