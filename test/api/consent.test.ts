import { describe, expect, test } from "vitest";
import { consent, get, issue, submission, world } from "../support/world.ts";

describe("POST /v1/consent", () => {
  test("a submission becomes a certificate that verifies at once", async () => {
    const answer = await consent(submission());
    expect(answer.status).toBe(201);
    const { cert_id, fingerprint, issued_at, verify_url, status, environment, manage_url } = answer.body.data;
    expect(cert_id).toMatch(/^cc_00[0-9a-hjkmnp-tv-z]{24}$/);
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(issued_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(verify_url).toBe(`http://svc.test/c/${cert_id}`);
    expect(manage_url).toMatch(new RegExp(`^http://svc\\.test/c/${cert_id}#m=[A-Za-z0-9_-]{43}$`));
    expect({ status, environment }).toEqual({ status: "active", environment: "live" });
    const verified = await get(`/v1/certs/${cert_id}/verify`);
    expect(verified.status).toBe(200);
    expect(verified.body.data).toMatchObject({ cert_id, fingerprint, issued_at, status: "active" });
  });

  test("a certificate issued in the second home is found there", async () => {
    const { worldInSecondHome } = await import("../support/world.ts");
    const receipt = await issue({}, worldInSecondHome.acme);
    expect(receipt.cert_id.slice(0, 5)).toBe("cc_01");
    const detail = await get(`/v1/certs/${receipt.cert_id}`, worldInSecondHome.acme.keys.live);
    expect(detail.body.data.subject).toEqual(submission().fields);
    expect((await get(`/v1/certs/${receipt.cert_id}`, world.acme.keys.live)).body.error.code).toBe("cert_not_found");
  });
});
