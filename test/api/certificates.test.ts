// Tests reading certificates: public verification, the owner's view, and the evidence pack. Other businesses can use only public
// verification.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { toBase64, fromBase64, encodeUtf8 } from "../../core/bytes.ts";
import { toCanonicalJson, type Json } from "../../core/canonical-json.ts";
import { hmacSha256, sha256Hex } from "../../core/hash.ts";
import type { DemoBusiness } from "../../scripts/demo-world.ts";
import { eraseCertificate } from "../support/erasure.ts";
import { signIn } from "../support/people.ts";
import { countRecordedReads } from "../support/portal.ts";
import {
  call,
  submitConsent,
  getWithKey,
  issueCertificate,
  buildSubmission,
  world,
  worldInSecondShard,
  type TestResponse,
} from "../support/world.ts";

const key = world.acme.keys.live;
const unknownId = "cc_00000000000000000000000000";
const verifyKeys = [
  "anchor",
  "business_id",
  "business_name",
  "canonical",
  "cease_by",
  "cert_id",
  "checks",
  "disclosure_hash",
  "disclosure_text",
  "entities",
  "environment",
  "fingerprint",
  "fingerprint_version",
  "issued_at",
  "origin_domain",
  "policies",
  "policies_status",
  "preimage",
  "purpose",
  "signals",
  "signature",
  "status",
  "status_list",
  "subject",
  "subject_erased_at",
  "subject_hash",
  "verify_url",
  "view_count",
  "withdrawal",
];
const detailKeys = [...verifyKeys, "audit", "evidence", "evidence_hash", "retention_until", "subject_salts", "view_trail"].sort();

interface Data {
  readonly canonical: string;
  readonly fingerprint: string;
  readonly disclosure_text: string;
  readonly preimage: { readonly [key: string]: Json };
  readonly [key: string]: unknown;
}

const readData = async (path: string, credential?: string): Promise<Data> => {
  const response = await getWithKey(path, credential);
  expect(response.status, response.text).toBe(200);
  return response.body.data;
};
const readVerification = (certId: string): Promise<Data> => readData(`/v1/certs/${certId}/verify`);
const readDetails = (certId: string): Promise<Data> => readData(`/v1/certs/${certId}`, key);
/** Returns the body without the request ID, which is the only part that differs between requests. */
const withoutRequestId = ({ text, body }: TestResponse): string => text.replace(body.request_id, "req");

const secrets = {
  fields: {
    email: "hidden-mailbox@hidden-domain.example",
    first_name: "Hiddenfirst",
    last_name: "Hiddenlast",
    phone: "+1 202 555 0188",
    message: "hidden message",
  },
  page_url: "https://www.example.com/hidden-path?hidden-query=1#hidden-fragment",
  referrer: "https://hidden-referrer.example/",
};
const secretHeaders = { "cf-connecting-ip": "198.51.100.88", "user-agent": "HiddenBrowser/1.0 (hidden)" };
const issueSecretly = async (): Promise<string> =>
  (await submitConsent({ ...buildSubmission(), ...secrets }, secretHeaders)).body.data.cert_id;
const expectNoSecret = (text: string): void => {
  for (const marker of ["hidden", "555 0188", "2025550188", "198.51.100.88"]) expect(text.toLowerCase(), marker).not.toContain(marker);
};

describe("GET /v1/certs/{id}/verify", () => {
  test("returns exactly the documented keys", async () => {
    expect(Object.keys(await readVerification((await issueCertificate()).cert_id)).sort()).toEqual(verifyKeys);
    const withChoice = await issueCertificate({ entities_accepted: [], entities_rejected: ["Acme Solar LLC"] });
    expect(Object.keys(await readVerification(withChoice.cert_id)).sort()).toEqual(
      [...verifyKeys, "entities_accepted", "entities_rejected"].sort(),
    );
  });

  test("returns what was signed", async () => {
    const receipt = await issueCertificate();
    const data = await readVerification(receipt.cert_id);
    expect(data).toMatchObject({
      cert_id: receipt.cert_id,
      status: "active",
      environment: "live",
      fingerprint: receipt.fingerprint,
      fingerprint_version: "1",
      issued_at: receipt.issued_at,
      verify_url: receipt.verify_url,
      business_id: world.acme.id,
      business_name: world.acme.name,
      entities: buildSubmission().entities,
      disclosure_text: buildSubmission().disclosure_text,
      disclosure_hash: sha256Hex(buildSubmission().disclosure_text),
      purpose: buildSubmission().purpose,
      origin_domain: "www.example.com",
      subject: { email: "p***@e***.com", first_name: "P***", phone: "***-***-**23" },
      subject_erased_at: null,
      withdrawal: null,
      cease_by: null,
      signals: { gpc: false },
      view_count: 0,
    });
  });

  test("returns a preimage from which anyone can recompute the fingerprint (F7)", async () => {
    const withChoice = await issueCertificate({
      entities: ["Ünïcode 😀", "\ufb33", "Zeta"],
      entities_accepted: ["Zeta"],
      entities_rejected: [],
    });
    const data = await readVerification(withChoice.cert_id);
    expect(toCanonicalJson(data.preimage)).toBe(data.canonical);
    expect(sha256Hex(data.canonical)).toBe(data.fingerprint);
    expect(data.preimage).toEqual({
      business: { id: data.business_id, name: data.business_name },
      cert_id: data.cert_id,
      disclosure_hash: sha256Hex(data.disclosure_text),
      entities: data.entities,
      entities_accepted: data.entities_accepted,
      entities_rejected: data.entities_rejected,
      origin_domain: data.origin_domain,
      purpose: data.purpose,
      subject_hash: data.subject_hash,
      timestamp: data.issued_at,
    });
  });

  test("returns a signature over the exact canonical text by a published key", async () => {
    const data = (await readVerification((await issueCertificate()).cert_id)) as unknown as {
      canonical: string;
      signature: { kid: string; alg: string; value: string };
    };
    const { keys } = (await getWithKey("/.well-known/jwks.json")).body as { keys: { kid: string; kty: string; crv: string; x: string }[] };
    const jwk = keys.find(({ kid }) => kid === data.signature.kid) as (typeof keys)[number];
    expect(data.signature.alg).toBe("Ed25519");
    const verifying = await crypto.subtle.importKey("jwk", { kty: jwk.kty, crv: jwk.crv, x: jwk.x }, "Ed25519", false, ["verify"]);
    const verifySignature = (text: string, signature = data.signature.value): Promise<boolean> =>
      crypto.subtle.verify("Ed25519", verifying, fromBase64(signature) as Uint8Array<ArrayBuffer>, encodeUtf8(text));
    expect(await verifySignature(data.canonical)).toBe(true);
    expect(await verifySignature(data.canonical.replace("Acme", "Acne"))).toBe(false);
    const other = (await readVerification((await issueCertificate()).cert_id)) as unknown as typeof data;
    expect(await verifySignature(data.canonical, other.signature.value)).toBe(false);
  });

  test("anchors the published statement and nothing else", async () => {
    const data = (await readVerification((await issueCertificate()).cert_id)) as unknown as Record<string, string> & {
      anchor: Record<string, string>;
    };
    const statement = JSON.parse(data.anchor.statement as string) as Record<string, string>;
    expect(statement).toEqual({
      entity_id: data.cert_id,
      event: "certificate.issued",
      fingerprint: data.fingerprint,
      origin_domain: data.origin_domain,
      schema: "svc-anchor-v1",
      timestamp: data.issued_at,
    });
    expect(toCanonicalJson(statement)).toBe(data.anchor.statement);
    expect(sha256Hex(data.anchor.statement as string)).toBe(data.anchor.entry_hash);
    expect(data.anchor.event).toBe("certificate.issued");
  });

  test("contains no personal data, in the body or the headers", async () => {
    const response = await getWithKey(`/v1/certs/${await issueSecretly()}/verify`);
    expectNoSecret(response.text + JSON.stringify([...response.headers]));
    expect(response.body.data.subject).toEqual({
      email: "h***@h***.example",
      first_name: "H***",
      last_name: "H***",
      phone: "***-***-**88",
      message: "***",
    });
  });

  test("shares no hash between two certificates of the same person (F8)", async () => {
    const [first, second] = [
      await readVerification((await issueCertificate()).cert_id),
      await readVerification((await issueCertificate()).cert_id),
    ];
    for (const name of ["subject_hash", "fingerprint", "canonical"]) expect(first[name]).not.toBe(second[name]);
  });

  test("returns a subject hash that no guess can be tested against", async () => {
    const { fields } = buildSubmission();
    const { subject_hash } = await readVerification((await issueCertificate()).cert_id);
    const guesses = [
      JSON.stringify(fields),
      toCanonicalJson(fields as Json),
      String(fields.email),
      toCanonicalJson(["email", String(fields.email)]),
    ];
    expect(guesses.map((guess) => sha256Hex(guess))).not.toContain(subject_hash);
  });

  test("returns the same 404 cert_not_found for unknown, malformed and foreign-shard ids", async () => {
    const ids = [
      unknownId,
      "cc_zz000000000000000000000000",
      "cc_",
      "x",
      unknownId.toUpperCase(),
      `${unknownId}0`,
      world.acme.id,
      "__proto__",
      "%00",
      "%F0%9F%98%80",
      "cc_00'%20OR%201=1--",
      "c".repeat(2_000),
    ];
    const responses = await Promise.all(ids.map((id) => getWithKey(`/v1/certs/${id}/verify`)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([404]));
    expect(new Set(responses.map(withoutRequestId)).size).toBe(1);
    expect(responses[0]?.body.error.code).toBe("cert_not_found");
    expect(new Set(responses.map(({ headers }) => [...headers.keys()].sort().join())).size).toBe(1);
  });

  test("returns 304 for a strong ETag until anything changes, and is never served stale", async () => {
    const { cert_id } = await issueCertificate();
    const path = `/v1/certs/${cert_id}/verify`;
    const withTag = (tag: string): Promise<TestResponse> => call(path, { headers: { "if-none-match": tag } });
    // Background work may still be capturing policies, so this waits until two reads return the same response.
    let response = await getWithKey(path);
    for (
      let retried = await getWithKey(path);
      retried.headers.get("etag") !== response.headers.get("etag");
      retried = await getWithKey(path)
    )
      response = retried;
    const tag = response.headers.get("etag") as string;
    expect(tag).toMatch(/^"[0-9a-f]{32,}"$/);
    expect(response.headers.get("cache-control")).toBe("no-cache");
    for (const named of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
      const unchanged = await withTag(named);
      expect([unchanged.status, unchanged.text, unchanged.headers.get("etag"), unchanged.headers.get("cache-control")], named).toEqual([
        304,
        "",
        tag,
        "no-cache",
      ]);
      expect(unchanged.headers.get("access-control-allow-origin")).toBe("*");
    }
    for (const other of ['"x"', tag.replaceAll('"', ""), ""]) expect((await withTag(other)).status, other).toBe(200);
    await env.DB.prepare("UPDATE certificates SET view_count = view_count + 1 WHERE id = ?").bind(cert_id).run();
    const changed = await withTag(tag);
    expect(changed.status).toBe(200);
    expect(changed.body.data.view_count).toBe(1);
    expect(changed.headers.get("etag")).not.toBe(tag);
  });

  test("is readable from every page, with rate limit headers", async () => {
    const response = await call(`/v1/certs/${(await issueCertificate()).cert_id}/verify`, {
      headers: { origin: "https://anybody.example" },
    });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    for (const name of ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"]) expect(response.headers.get(name)).toMatch(/^\d+$/);
    expect((await getWithKey(`/v1/certs/${unknownId}/verify`)).headers.get("access-control-allow-origin")).toBe("*");
  });

  test("returns the same data whatever headers the caller sends", async () => {
    const { cert_id } = await issueCertificate();
    const plain = await readVerification(cert_id);
    const spoofed: readonly (readonly [string, string])[] = [
      ["host", "evil.com"],
      ["x-forwarded-host", "evil.com"],
      ["x-host", "evil.com"],
      ["x-forwarded-server", "evil.com"],
      ["x-forwarded-proto", "gopher"],
      ["x-original-url", "/v1/certs"],
      ["x-rewrite-url", "/v1/certs"],
      ["x-http-method-override", "DELETE"],
      ["forwarded", "host=evil.com;proto=gopher"],
      ["origin", "https://evil.com"],
      ["referer", "https://evil.com/"],
      ["accept", "text/html"],
      ["accept-language", "xx"],
      ["cookie", "svc_session=x"],
      ["authorization", `Bearer ${key}`],
    ];
    for (const [name, value] of spoofed) {
      const response = await call(`/v1/certs/${cert_id}/verify`, { headers: { [name]: value } });
      expect({ ...response.body.data, policies_status: null, policies: null }, name).toEqual({
        ...plain,
        policies_status: null,
        policies: null,
      });
      expect(response.headers.get("content-type"), name).toMatch(/^application\/json/);
      expect(response.headers.get("x-content-type-options"), name).toBe("nosniff");
    }
  });

  test("answers HEAD without a body, and neither method counts as a view", async () => {
    const { cert_id } = await issueCertificate();
    const head = await call(`/v1/certs/${cert_id}/verify`, { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    await readVerification(cert_id);
    expect((await readVerification(cert_id)).view_count).toBe(0);
  });
});

describe("GET /v1/certs/{id}", () => {
  test("returns exactly the documented keys", async () => {
    expect(Object.keys(await readDetails((await issueCertificate()).cert_id)).sort()).toEqual(detailKeys);
  });

  test("shows the owner the decrypted subject and evidence, with every hash recomputable", async () => {
    const data = (await readDetails(await issueSecretly())) as unknown as {
      subject: Record<string, string>;
      subject_salts: Record<string, string>;
      subject_hash: string;
      evidence: Record<string, Json>;
      evidence_hash: string;
      issued_at: string;
      retention_until: string;
      view_trail: unknown[];
    };
    expect(data.subject).toEqual(secrets.fields);
    const commitments = Object.fromEntries(
      Object.entries(data.subject).map(([name, value]) => [
        name,
        sha256Hex(toCanonicalJson([data.subject_salts[name] as string, name, value])),
      ]),
    );
    expect(sha256Hex(toCanonicalJson(commitments))).toBe(data.subject_hash);
    expect(new Set(Object.values(data.subject_salts)).size).toBe(5);
    for (const salt of Object.values(data.subject_salts)) expect(salt).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(data.evidence).toMatchObject({
      page_url: secrets.page_url,
      referrer: secrets.referrer,
      ip: "198.51.100.88",
      user_agent: "HiddenBrowser/1.0 (hidden)",
    });
    expect(sha256Hex(toCanonicalJson(data.evidence))).toBe(data.evidence_hash);
    expect(data.view_trail).toEqual([]);
    expect(Date.parse(data.retention_until) - Date.parse(data.issued_at)).toBeGreaterThan(5 * 365 * 24 * 3_600_000);
  });

  test("records each read in the business's audit chain, and no refused read", async () => {
    const { cert_id } = await issueCertificate();
    await readDetails(cert_id);
    await readDetails(cert_id);
    await getWithKey(`/v1/certs/${cert_id}`, world.other.keys.live);
    await getWithKey(`/v1/certs/${cert_id}`);
    await readVerification(cert_id);
    expect(await countRecordedReads(await signIn(world.ownerEmail), cert_id)).toBe(2);
  });

  test("is not cached and not readable from other pages", async () => {
    const response = await getWithKey(`/v1/certs/${(await issueCertificate()).cert_id}`, key);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
  });
});

describe("GET /v1/certs/{id}/evidence-pack", () => {
  interface Pack {
    bundle_version: string;
    certificate: Record<string, Json>;
    preimage: { [key: string]: Json };
    canonical_json: string;
    fingerprint: string;
    subject_disclosures: { key: string; salt: string; value: string }[];
    commitments: Record<string, string>;
    disclosure: { text: string; hash: string };
    evidence: Record<string, Json> | null;
    evidence_hash: string;
    ledger: Record<string, Json>;
    issuer_keys: { keys: { kid: string; x: string }[] };
    signature: { kid: string; value: string };
    identity: Record<string, Json>;
    withdrawal: null;
    [key: string]: unknown;
  }
  const pack = async (certId: string, query = ""): Promise<Pack> =>
    (await readData(`/v1/certs/${certId}/evidence-pack${query}`, key)) as unknown as Pack;

  test("returns exactly the documented keys", async () => {
    expect(Object.keys(await pack((await issueCertificate()).cert_id)).sort()).toEqual(
      [
        "audit",
        "bundle_version",
        "canonical_json",
        "certificate",
        "commitments",
        "disclosure",
        "evidence",
        "evidence_hash",
        "fingerprint",
        "generated_at",
        "how_to_verify",
        "identity",
        "issuer_keys",
        "ledger",
        "policies",
        "preimage",
        "signature",
        "subject_disclosures",
        "views",
        "withdrawal",
        "withdrawal_receipt",
      ].sort(),
    );
  });

  test("proves the certificate without any other source", async () => {
    const bundle = await pack(await issueSecretly());
    expect(bundle.bundle_version).toBe("1.0");
    expect(toCanonicalJson(bundle.preimage)).toBe(bundle.canonical_json);
    expect(sha256Hex(bundle.canonical_json)).toBe(bundle.fingerprint);
    expect(sha256Hex(bundle.disclosure.text)).toBe(bundle.disclosure.hash);
    expect(bundle.preimage).toMatchObject({
      disclosure_hash: bundle.disclosure.hash,
      subject_hash: sha256Hex(toCanonicalJson(bundle.commitments)),
    });
    expect(Object.fromEntries(bundle.subject_disclosures.map(({ key: name, value }) => [name, value]))).toEqual(secrets.fields);
    for (const { key: name, salt, value } of bundle.subject_disclosures)
      expect(sha256Hex(toCanonicalJson([salt, name, value]))).toBe(bundle.commitments[name]);
    expect(sha256Hex(toCanonicalJson(bundle.evidence as Record<string, Json>))).toBe(bundle.evidence_hash);
    expect(sha256Hex(String(bundle.ledger.entry))).toBe(bundle.ledger.entry_hash);
    expect(JSON.parse(String(bundle.ledger.entry))).toMatchObject({ entity_id: bundle.preimage.cert_id, fingerprint: bundle.fingerprint });
    for (const [name, value] of Object.entries(bundle.preimage)) {
      const shown =
        {
          business: { id: bundle.certificate.business_id, name: bundle.certificate.business_name },
          timestamp: bundle.certificate.issued_at,
        }[name] ?? bundle.certificate[name];
      expect(shown, name).toEqual(value);
    }
    const jwk = bundle.issuer_keys.keys.find(({ kid }) => kid === bundle.signature.kid) as { x: string };
    const verifying = await crypto.subtle.importKey("jwk", { kty: "OKP", crv: "Ed25519", x: jwk.x }, "Ed25519", false, ["verify"]);
    const signature = fromBase64(bundle.signature.value) as Uint8Array<ArrayBuffer>;
    expect(await crypto.subtle.verify("Ed25519", verifying, signature, encodeUtf8(bundle.canonical_json))).toBe(true);
    expect(bundle.identity).toEqual({ legal_name: world.acme.name, mailing_address: expect.any(String), contact: expect.any(String) });
  });

  test("contains no personal data when redacted, and its hashes still verify", async () => {
    const certId = await issueSecretly();
    for (const query of ["?redact=subject", "?redact=subject&disclose=email", "?disclose=email&redact=subject"]) {
      const bundle = await pack(certId, query);
      expectNoSecret(JSON.stringify({ ...bundle, certificate: { ...bundle.certificate, subject: null } }));
      expect([bundle.subject_disclosures, bundle.evidence]).toEqual([[], null]);
      expect(sha256Hex(toCanonicalJson(bundle.commitments))).toBe(bundle.preimage.subject_hash);
      expect(sha256Hex(bundle.canonical_json)).toBe(bundle.fingerprint);
    }
  });

  test("discloses only the requested fields and keeps commitments to the others", async () => {
    const certId = await issueSecretly();
    const listDisclosed = async (query: string): Promise<string[]> =>
      (await pack(certId, query)).subject_disclosures.map(({ key: name }) => name).sort();
    expect(await listDisclosed("?disclose=email")).toEqual(["email"]);
    expect(await listDisclosed("?disclose=phone,email,phone")).toEqual(["email", "phone"]);
    expect(await listDisclosed("?disclose=unknown_field")).toEqual([]);
    expect(await listDisclosed("?format=json")).toEqual(Object.keys(secrets.fields).sort());
    const one = await pack(certId, "?disclose=email");
    expect(Object.keys(one.commitments).sort()).toEqual(Object.keys(secrets.fields).sort());
    expect(JSON.stringify(one.subject_disclosures)).not.toContain("Hiddenfirst");
  });

  test("discloses a salt that reveals nothing about another field (F8)", async () => {
    const bundle = await pack(await issueSecretly());
    const [first, second] = bundle.subject_disclosures as [Pack["subject_disclosures"][0], Pack["subject_disclosures"][0]];
    expect(sha256Hex(toCanonicalJson([first.salt, second.key, second.value]))).not.toBe(bundle.commitments[second.key]);
    expect(toBase64(hmacSha256(encodeUtf8(first.salt), second.key))).not.toContain(bundle.commitments[second.key]);
  });

  test.each([
    "?format=pdf",
    "?format=",
    "?format=JSON",
    "?redact=all",
    "?redact=",
    "?disclose=",
    "?disclose=Email",
    "?disclose=email,",
    "?disclose=email%20phone",
    "?disclose=__proto__",
    "?format=json&format=json",
    "?redact=subject&redact=subject",
    "?disclose=email&disclose=phone",
    `?disclose=${"a,".repeat(30)}a`,
  ])("returns 400 invalid_request for %s", async (query) => {
    const response = await getWithKey(`/v1/certs/${(await issueCertificate()).cert_id}/evidence-pack${query}`, key);
    expect([response.status, response.body.error.code]).toEqual([400, "invalid_request"]);
  });

  test("records each export in the business's audit chain", async () => {
    const { cert_id } = await issueCertificate();
    await pack(cert_id);
    const count = await env.DB.prepare("SELECT COUNT(*) AS n FROM audit_entries WHERE entity_id = ? AND type = 'evidence_pack.exported'")
      .bind(cert_id)
      .first("n");
    expect(count).toBe(1);
  });
});

describe("a certificate whose person was erased", () => {
  test("still verifies in full, and none of the person's data can be read or disclosed (F9)", async () => {
    const certId = await issueSecretly();
    const before = await readVerification(certId);
    const erasedAt = await eraseCertificate(certId);
    const after = await readVerification(certId);
    expect(after).toMatchObject({
      fingerprint: before.fingerprint,
      canonical: before.canonical,
      signature: before.signature,
      subject_hash: before.subject_hash,
      subject: {},
    });
    expect(after.subject_erased_at).toBe(erasedAt);
    expect(sha256Hex(after.canonical)).toBe(after.fingerprint);
    expect(await readDetails(certId)).toMatchObject({ subject: {}, subject_salts: {} });
    const bundle = await readData(`/v1/certs/${certId}/evidence-pack`, key);
    expect(bundle).toMatchObject({ subject_disclosures: [], fingerprint: before.fingerprint, canonical_json: before.canonical });
    for (const value of Object.values(secrets.fields)) expect(JSON.stringify(bundle)).not.toContain(value);
    const found = await readData(`/v1/certs?subject_email=${encodeURIComponent(secrets.fields.email)}&q=`, key);
    expect(JSON.stringify(found.certs)).not.toContain(certId);
  });
});

describe("a certificate of another business, environment or shard", () => {
  const issueFor = async (business: DemoBusiness, environment: "live" | "sandbox", host: string): Promise<string> => {
    const response = await submitConsent(
      { ...buildSubmission(business), client_id: business.clients[environment], page_url: `${host}/` },
      { origin: host },
    );
    expect(response.status, response.text).toBe(201);
    return response.body.data.cert_id;
  };

  test("returns the same 404 as an unknown certificate for every key, and appears in no other list", async () => {
    const owners: readonly (readonly [name: string, key: string, certId: string])[] = [
      ["acme live", world.acme.keys.live, await issueFor(world.acme, "live", "https://www.example.com")],
      ["acme sandbox", world.acme.keys.sandbox, await issueFor(world.acme, "sandbox", "https://www.example.com")],
      ["other live", world.other.keys.live, await issueFor(world.other, "live", "https://other.example")],
      ["other sandbox", world.other.keys.sandbox, await issueFor(world.other, "sandbox", "https://other.example")],
      [
        "acme on the second shard",
        worldInSecondShard.acme.keys.live,
        await issueFor(worldInSecondShard.acme, "live", "https://www.example.com"),
      ],
    ];
    for (const [owner, credential, ownId] of owners) {
      const unknownAnswers = [
        await getWithKey(`/v1/certs/${unknownId}`, credential),
        await getWithKey(`/v1/certs/${unknownId}/evidence-pack`, credential),
      ] as const;
      for (const [whose, , certId] of owners) {
        const responses = [
          await getWithKey(`/v1/certs/${certId}`, credential),
          await getWithKey(`/v1/certs/${certId}/evidence-pack`, credential),
        ] as const;
        if (certId === ownId) {
          expect(
            responses.map(({ status }) => status),
            `${owner} reads its own`,
          ).toEqual([200, 200]);
          continue;
        }
        for (const at of [0, 1] as const) {
          expect(responses[at].status, `${owner} reads ${whose}`).toBe(404);
          expect(withoutRequestId(responses[at]), `${owner} reads ${whose}`).toBe(withoutRequestId(unknownAnswers[at]));
        }
      }
      const { certs, total } = (await getWithKey("/v1/certs?per_page=100", credential)).body.data as {
        certs: { cert_id: string }[];
        total: number;
      };
      const foreign = owners.filter(([, , certId]) => certId !== ownId && certs.some(({ cert_id }) => cert_id === certId));
      expect(foreign, `${owner} lists`).toEqual([]);
      expect(certs.map(({ cert_id }) => cert_id)).toContain(ownId);
      expect(total).toBe(certs.length);
    }
  });
});
