// How a submission reached us, as its request tells.
import { isKnownIp } from "../../../core/access/address.ts";
import type { CaptureCircumstances } from "../../../core/certificates/certificate.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { RequestContext } from "../../http/context.ts";

const maxUserAgentLength = 512;
const printable = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "").slice(0, maxUserAgentLength);

interface Geo {
  readonly country?: unknown;
  readonly region?: unknown;
  readonly city?: unknown;
}
const textOrNull = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value.slice(0, 100) : null);

/** A server that holds the business's key may speak for the visitor's address and browser; nobody else may. */
export const circumstancesOf = (c: RequestContext, byServer: boolean): Result<CaptureCircumstances, "invalid_request"> => {
  const subjectIp = byServer ? c.req.header("x-subject-ip") : undefined;
  if (subjectIp !== undefined && !isKnownIp(subjectIp)) return refuse("invalid_request", "X-Subject-IP: must be an IP address.");
  const subjectAgent = byServer ? c.req.header("x-subject-user-agent") : undefined;
  // Only Cloudflare's edge knows where an address is; a local runtime invents a place, and evidence must not.
  const located = !byServer && c.var.services.config.environment === "production";
  const geo: Geo = located ? ((c.req.raw as { cf?: Geo }).cf ?? {}) : {};
  return ok({
    ip: subjectIp ?? c.var.ip,
    userAgent: printable(subjectAgent ?? c.req.header("user-agent") ?? ""),
    gpc: c.req.header("sec-gpc") === "1",
    capturedVia: !byServer && c.req.header("sec-fetch-mode") !== undefined ? "browser" : "server",
    geo: { country: textOrNull(geo.country), region: textOrNull(geo.region), city: textOrNull(geo.city) },
  });
};
