// Tests the published signature verifier with the test vectors, with an independent implementation, and with everything that it must
// refuse.
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { buildDeliveryHeaders, formatSecretHint, formatWebhookSecret } from "../../../core/webhooks/signature.ts";
import { verifySignature } from "../../../core/webhooks/verify-signature.ts";
import { bundleSignatureVerifier } from "../../../verifier/build.ts";
import vectors from "../../vectors/webhook-signatures.json" with { type: "json" };

const secret = formatWebhookSecret(Uint8Array.from({ length: 32 }, (_, at) => at * 7));
const earlier = formatWebhookSecret(Uint8Array.from({ length: 32 }, (_, at) => 255 - at));
const now = 1_763_632_800;
const body = '{"id":"1","type":"share.created","name":"Zoë 🎈 \u2028 end"}';
const buildHeaders = (secrets: readonly string[] = [secret], sent = body): Readonly<Record<string, string>> =>
  buildDeliveryHeaders({
    event: { id: "7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11", type: "share.created" },
    deliveryId: "dlv_00k3v9d2m4q8x1c7b5n0t6w2h9",
    attempt: 2,
    body: sent,
    secrets,
    now: now * 1_000 + 999,
  });
const buildHeader = (secrets?: readonly string[]): string => buildHeaders(secrets)["Svc-Signature"] as string;

describe("a signature", () => {
  test.each(vectors.signatures)("matches the vector: $note", ({ secret: vectorSecret, t, body: signed, v1, now_seconds, valid }) => {
    expect(verifySignature(signed, `t=${t},v1=${v1}`, vectorSecret, now_seconds)).toBe(valid);
    if (valid) expect(createHmac("sha256", vectorSecret).update(`${t}.${signed}`).digest("hex")).toBe(v1);
  });

  test("is verified by the published module, which has no imports", async () => {
    const source = await bundleSignatureVerifier();
    expect(source).not.toMatch(/\bimport\b|\brequire\(|\bprocess\b|\bBuffer\b/);
    const published = (await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`)) as {
      verifySignature: typeof verifySignature;
    };
    expect(Object.keys(published)).toEqual(["verifySignature"]);
    for (const { secret: vectorSecret, t, body: signed, v1, now_seconds, valid } of vectors.signatures) {
      expect(published.verifySignature(signed, `t=${t},v1=${v1}`, vectorSecret, now_seconds)).toBe(valid);
    }
    expect(published.verifySignature(body, buildHeader(), secret, now)).toBe(true);
  });

  test("matches an independent implementation", () => {
    const expected = createHmac("sha256", secret).update(`${now}.${body}`, "utf8").digest("hex");
    expect(buildHeader()).toBe(`t=${now},v1=${expected}`);
    expect(verifySignature(body, buildHeader(), secret, now)).toBe(true);
    expect(verifySignature(new TextEncoder().encode(body), buildHeader(), secret, now)).toBe(true);
  });

  test("is accompanied by a Standard Webhooks signature over ID, time and body", () => {
    const all = buildHeaders([secret, earlier]);
    const expected = [secret, earlier].map((one) => {
      const key = Buffer.from(one.slice("whsec_".length), "base64");
      return `v1,${createHmac("sha256", key).update(`${all["webhook-id"]}.${now}.${body}`).digest("base64")}`;
    });
    expect(all["webhook-signature"]).toBe(expected.join(" "));
    expect(all["webhook-timestamp"]).toBe(String(now));
    expect(all["webhook-id"]).toBe(all["Svc-Event-Id"]);
    expect(all).toMatchObject({ "Svc-Attempt": "2", "User-Agent": "Svc-Webhooks/1", "Content-Type": "application/json" });
  });

  test("verifies with either secret during a rotation", () => {
    expect(buildHeader([secret, earlier])).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    expect(verifySignature(body, buildHeader([secret, earlier]), secret, now)).toBe(true);
    expect(verifySignature(body, buildHeader([secret, earlier]), earlier, now)).toBe(true);
  });

  test("is valid for 300 seconds before and after its time", () => {
    for (const off of [-300, -299, 0, 299, 300]) expect(verifySignature(body, buildHeader(), secret, now + off)).toBe(true);
    for (const off of [-301, 301, 100_000, Number.NaN]) expect(verifySignature(body, buildHeader(), secret, now + off)).toBe(false);
  });

  test.each<readonly [string, string | null | undefined]>([
    ["nothing", null],
    ["no header", undefined],
    ["an empty one", ""],
    ["another time", buildHeader().replace(`t=${now}`, `t=${now + 1}`)],
    ["no time", buildHeader().replace(/^t=\d+,/, "")],
    ["two times", `t=${now},${buildHeader()}`],
    ["upper-case hex", buildHeader().replace(/v1=.*/, (text) => text.toUpperCase().replace("V1", "v1"))],
    ["a shorter one", buildHeader().slice(0, -1)],
    ["a longer one", `${buildHeader()}0`],
    ["another version", buildHeader().replace("v1=", "v0=")],
    ["spaces", buildHeader().replace(",", ", ")],
    ["a line end", `${buildHeader()}\n`],
    ["one changed character", buildHeader().replace(/.$/, (last) => (last === "0" ? "1" : "0"))],
    ["a very long one", `t=${now}${",v1=".concat("0".repeat(64)).repeat(1_000)}`],
  ])("is refused in %s", (_name, headerValue) => {
    expect(verifySignature(body, headerValue, secret, now)).toBe(false);
  });

  test("is found next to unknown schemes", () => {
    const right = buildHeader();
    for (const beside of [
      right.replace(",v1=", ",v0=old,v1="),
      `${right},v2=${"b".repeat(88)}==`,
      right.replace(",v1=", `,v2=x,v1=${"0".repeat(64)},v1=`),
    ])
      expect(verifySignature(body, beside, secret, now), beside).toBe(true);
    const wrong = `t=${now},v1=${"0".repeat(64)}`;
    const digest = right.split("v1=")[1] as string;
    for (const relabelled of [`t=${now},v0=${digest}`, `${wrong},v2=${digest}`, `${right},`, `${right},v2`, `${right},x=1`])
      expect(verifySignature(body, relabelled, secret, now), relabelled).toBe(false);
  });

  test("is refused for another body, another secret and an empty secret", () => {
    expect(verifySignature(body.replace("ë", "e"), buildHeader(), secret, now)).toBe(false);
    expect(verifySignature(body.normalize("NFD"), buildHeader(), secret, now)).toBe(false);
    expect(verifySignature(body, buildHeader(), earlier, now)).toBe(false);
    expect(verifySignature(body, buildHeader(), "", now)).toBe(false);
    expect(verifySignature(body, buildHeader(), secret.slice("whsec_".length), now)).toBe(false); // the prefix is part of the key
  });

  test("uses 256-bit secrets that Standard Webhooks libraries accept", () => {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), "base64")).toHaveLength(32);
    expect(formatSecretHint(secret)).toBe(`whsec_…${secret.slice(-4)}`);
  });
});
