// Checks, with independent DNS-over-HTTPS resolvers, that a host name resolves only to public IP addresses. Workers cannot pin the IP
// address for the request that follows, so this check alone is not enough. The two other layers of protection are the host name check
// (core/access/outbound-url.ts), and a platform whose outbound connections cannot reach a private network.
import ipaddr from "ipaddr.js";
import { findHostNameFault } from "../../core/access/outbound-url.ts";
import { readBytesUpTo } from "../../core/bytes.ts";
import { fail } from "../../core/result.ts";
import { withTimeout } from "./timeout.ts";
import {
  combineHostVerdicts,
  parseDnsAnswer,
  toHostVerdict,
  type DnsAnswer,
  type DnsType,
  type HostVerdict,
} from "../../core/access/dns-answer.ts";

/** Checks a host name. Never throws. Returns `unanswered` if `signal` is aborted. */
export type CheckHost = (hostname: string, signal: AbortSignal) => Promise<HostVerdict>;

/** The rules for requests to URLs that customers supply. */
export interface OutboundRules {
  readonly ownHosts: readonly string[];
  /** The `host:port` entries in DEV_FETCH_ALLOW. */
  readonly developmentHosts: readonly string[];
  readonly checkHost: CheckHost;
}

const resolverTimeoutMs = 2_000;
/** The time limit of a host check, in milliseconds. It is one second longer than the resolvers' time limit. */
export const hostVerdictTimeoutMs = 3_000;
const maxResponseBytes = 64 * 1_024; // a response with 64 records of the longest names has about 40 KiB
const globalUnicast = ipaddr.IPv6.parse("2000::");

/** Returns true for IPv4 addresses outside all special ranges, and for IPv6 addresses inside 2000::/3 and outside its special ranges. */
export const isPublicAddress = (address: string): boolean => {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address).range() === "unicast";
  if (!ipaddr.IPv6.isValid(address) || address.includes("%")) return false;
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.match(globalUnicast, 3) && parsed.range() === "unicast";
};

const queryAddressRecords = async (
  resolver: string,
  hostname: string,
  type: DnsType,
  ownHosts: readonly string[],
  signal: AbortSignal,
): Promise<DnsAnswer> => {
  const url = new URL(resolver);
  url.searchParams.set("name", hostname);
  url.searchParams.set("type", type);
  const response = await fetch(url, { headers: { accept: "application/dns-json" }, redirect: "manual", signal });
  if (response.status !== 200) {
    await response.body?.cancel();
    return fail("unanswered");
  }
  const body = await readBytesUpTo(response.body, maxResponseBytes);
  return body === null
    ? fail("refused")
    : parseDnsAnswer(hostname, JSON.parse(new TextDecoder().decode(body)), {
        isAllowedName: (name) => findHostNameFault(name, ownHosts) === null,
        isPublicAddress,
      });
};

/** Returns one resolver's verdict. A missing, slow or malformed response counts as `unanswered` and never makes a host public. */
const getResolverVerdict = async (
  resolver: string,
  hostname: string,
  ownHosts: readonly string[],
  callerSignal: AbortSignal,
): Promise<HostVerdict> => {
  try {
    return await withTimeout(resolverTimeoutMs, async (limit) => {
      const signal = AbortSignal.any([limit, callerSignal]);
      return toHostVerdict(
        await Promise.all([
          queryAddressRecords(resolver, hostname, "A", ownHosts, signal),
          queryAddressRecords(resolver, hostname, "AAAA", ownHosts, signal),
        ]),
      );
    });
  } catch {
    return "unanswered";
  }
};

/** Creates a check that combines the verdicts from all resolvers. A host is public only if all resolvers say so. */
export const createHostCheck =
  (settings: { readonly dohUrls: readonly string[]; readonly ownHosts: readonly string[] }): CheckHost =>
  async (hostname, signal) =>
    combineHostVerdicts(
      await Promise.all(settings.dohUrls.map((resolver) => getResolverVerdict(resolver, hostname, settings.ownHosts, signal))),
    );
