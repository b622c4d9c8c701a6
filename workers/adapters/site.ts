// Groups hosts into sites by the Public Suffix List. Without the list, `a.co.uk` and `b.co.uk`, or two blogs at the same hosting company,
// would look like one site.
import { getDomain } from "tldts";

/** The registrable domain of a host. Null for an IP address, a single label or a public suffix. */
export const getRegistrableDomain = (hostname: string): string | null => getDomain(hostname, { allowPrivateDomains: true });

/** The registrable domain of a host. A host without one (IP address, `localhost`, public suffix) is its own site. */
export const getSite = (hostname: string): string => getRegistrableDomain(hostname) ?? hostname;
