// Sends submissions and compares the certificates with what they should contain.
import type { UnusualSubmission } from "./unusual-submissions.ts";
import { buildConsentRequest, buildSubmission, call, getWithKey, world } from "./world.ts";

/** Sorts the members of objects, so that equal objects are printed in the same way. Lists keep their order. */
const sortKeys = (_key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** Returns what is wrong with the certificates. The list is empty if each submission was accepted and stored as expected. */
export const findStorageFaults = async (submissions: readonly UnusualSubmission[]): Promise<string[]> => {
  const original = buildSubmission();
  const faults: string[] = [];
  for (const oddity of submissions) {
    const issued = await call("/v1/consent", buildConsentRequest(oddity.body, oddity.headers));
    if (issued.status !== 201) {
      faults.push(`${oddity.name}: ${issued.status} ${issued.text.slice(0, 200)}`);
      continue;
    }
    const detail = (await getWithKey(`/v1/certs/${issued.body.data.cert_id}`, world.acme.keys.live)).body?.data;
    const wanted = {
      status: "active",
      environment: "live",
      business_id: world.acme.id,
      business_name: world.acme.name,
      origin_domain: "www.example.com",
      purpose: original.purpose,
      disclosure_text: original.disclosure_text,
      entities: original.entities,
      ...oddity.stored,
      subject: oddity.subject ?? original.fields,
    };
    const held = Object.fromEntries(Object.keys(wanted).map((key) => [key, detail?.[key]]));
    if (JSON.stringify(held, sortKeys) !== JSON.stringify(wanted, sortKeys))
      faults.push(`${oddity.name}: holds ${JSON.stringify(held).slice(0, 600)}`);
    for (const [key, value] of Object.entries(oddity.evidence ?? {})) {
      if (JSON.stringify(detail?.evidence?.[key], sortKeys) !== JSON.stringify(value, sortKeys))
        faults.push(`${oddity.name}: evidence ${key} is ${JSON.stringify(detail?.evidence?.[key])}`);
    }
    if (oddity.stored?.entities_accepted === undefined && "entities_accepted" in (detail ?? {}))
      faults.push(`${oddity.name}: has a choice of recipients that was not submitted`);
  }
  return faults;
};
