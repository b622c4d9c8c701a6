// Groups hosts into sites by the Public Suffix List, which is needed to tell that `a.co.uk` and `b.co.uk`, or two blogs of one hosting
// company, are different sites.
import { getDomain } from "tldts";

/** The registrable domain of a host; null for an IP address, a single label and a public suffix. */
export const getRegistrableDomain = (hostname: string): string | null => getDomain(hostname, { allowPrivateDomains: true });

/** The registrable domain of a host. A host without one (IP address, `localhost`, public suffix) is its own site. */
export const getSite = (hostname: string): string => getRegistrableDomain(hostname) ?? hostname;
