// Tests a certificate's public page over HTTP: its content, order and languages, and its error pages. view-trail.test.ts tests recorded
// views, and hostile-text.test.ts tests hostile text.
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { buildApp } from "../../workers/app.ts";
import { publicMessages } from "../../workers/pages/i18n/public.ts";
import { languages } from "../../core/language.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { submitAnchors } from "../../workers/background/anchoring.ts";
import { basePlatform } from "../support/anchoring.ts";
import { auditEntriesSql, statementsSql } from "../support/statements-sql.ts";
import { eraseCertificate } from "../support/erasure.ts";
import {
  call,
  submitConsent,
  getWithKey,
  issueCertificate,
  productionSettings,
  buildSubmission,
  world,
  createServiceCall,
} from "../support/world.ts";
import { insertWithdrawal } from "../support/withdrawal.ts";
import {
  listBoundTexts,
  browser,
  listElements,
  findByTagName,
  open,
  read,
  findSection,
  extractText,
  withAttribute,
  withClass,
  extractWords,
  type ReadPage,
} from "./page.ts";

/** Returns the status and the time of issuance, which are below the name of the business. */
const readStatusText = (page: ReadPage): string => extractWords(withClass(page.document, "standing")[0]!);
const listSectionNames = (page: ReadPage): (string | undefined)[] =>
  findByTagName(page.document, "section").map((element) => element.attribs.id);

describe("the certificate page", () => {
  let certId: string;
  let page: ReadPage;
  beforeAll(async () => {
    const receipt = await issueCertificate();
    certId = receipt.cert_id;
    page = await open(certId);
  });

  test("is a complete HTML page", () => {
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=UTF-8");
    expect(page.text.startsWith('<!doctype html><html lang="en" dir="ltr">')).toBe(true);
    expect(findByTagName(page.document, "title").map(extractText)).toEqual(["Acme Solar LLC · Certificate of consent"]);
    expect(findByTagName(page.document, "h1").map(extractText)).toEqual(["Acme Solar LLC"]);
  });

  test("has this order: status, text, recipients, details, history, policies, verification, withdrawal, address", () => {
    expect(readStatusText(page)).toMatch(/^Active Issued \d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d UTC$/);
    expect(listSectionNames(page)).toEqual(["shown", "recipients", "details", "timeline", "policies", "check", "withdrawal"]);
    expect(page.text.indexOf('id="withdrawal"')).toBeGreaterThan(0);
    expect(page.text.indexOf('id="withdrawal"')).toBeLessThan(page.text.indexOf('class="printed"'));
  });

  test("shows every member of the record, with the same value everywhere", async () => {
    const { body } = await getWithKey(`/v1/certs/${certId}/verify`);
    const { data } = body;
    const times = withAttribute(page.document, "data-bound", "timestamp").map((element) => element.attribs.datetime);
    const shown = {
      "business.id": data.business_id,
      "business.name": data.business_name,
      cert_id: data.cert_id,
      disclosure: data.disclosure_text,
      disclosure_hash: data.disclosure_hash,
      fingerprint: data.fingerprint,
      origin_domain: data.origin_domain,
      purpose: data.purpose,
      record: data.canonical,
      subject_hash: data.subject_hash,
    };
    for (const [member, value] of Object.entries(shown)) expect([...new Set(listBoundTexts(page, member))], member).toEqual([value]);
    expect([...new Set(times)]).toEqual([data.issued_at]);
    expect(listBoundTexts(page, "entity")).toEqual(data.entities);
  });

  test("describes every check as the API does", async () => {
    const { body } = await getWithKey(`/v1/certs/${certId}/verify`);
    const text = extractWords(findSection(page, "details"));
    expect(body.data.checks.length).toBeGreaterThan(0);
    for (const { note } of body.data.checks) expect(text).toContain(note.replaceAll("'", "’")); // pages use typographic apostrophes
  });

  test("does not separate accepted from declined recipients if the form did not ask for each", () => {
    expect(extractWords(findSection(page, "recipients"))).toBe(
      "Who may contact them The form named these recipients together. It didn’t ask about each one separately. AS Acme Solar LLC Allowed BH Bright Homes Inc Allowed",
    );
    expect(listElements(page.document).some((element) => "data-list" in element.attribs)).toBe(false);
  });

  test("links to the JSON and the format, and to nothing that does not exist", async () => {
    const links = findByTagName(findSection(page, "check"), "a").map((link) => link.attribs.href ?? "");
    expect(withAttribute(page.document, "href", "format").length).toBe(1); // the link to the format is in the footer
    const verifier = "http://svc.test/svc-verify.mjs"; // a static file: test/flows/served-verifier.test.ts fetches it
    expect(links).toEqual([
      verifier,
      "http://svc.test/.well-known/svc-trust.json",
      "format?lang=en",
      `http://svc.test/v1/certs/${certId}/verify`,
    ]);
    for (const link of links.filter((one) => one !== verifier))
      expect((await call(new URL(link, `http://svc.test/c/${certId}`).pathname)).status).toBe(200);
  });

  test("has only forms that withdraw consent, and no inline styles or scripts", () => {
    for (const { attribs } of findByTagName(page.document, "form")) {
      expect(attribs.method).toBe("post");
      expect(attribs.action).toMatch(/^\/c\/cc_[0-9a-z]{26}\/withdraw(?:\/link)?$/);
    }
    for (const name of ["style", "iframe", "object", "embed", "base"]) expect(findByTagName(page.document, name), name).toEqual([]);
    expect(
      findByTagName(page.document, "script").map((element) => [element.attribs.type, element.attribs.src?.replace(/-\w+\.js$/, "")]),
    ).toEqual([["module", "/a/verify"]]);
    expect(
      listElements(page.document).flatMap((element) =>
        Object.keys(element.attribs).filter((name) => name === "style" || name.startsWith("on")),
      ),
    ).toEqual([]);
  });
});

describe("recipients", () => {
  test("are separated into accepted, declined and not asked if the form asked for each", async () => {
    const receipt = await issueCertificate({
      entities: ["Acme Solar LLC", "Bright Homes Inc", "Third Party Ltd"],
      entities_accepted: ["Bright Homes Inc"],
      entities_rejected: ["Acme Solar LLC"],
    });
    const page = await open(receipt.cert_id);
    const readListText = (list: string): string => extractWords(withAttribute(page.document, "data-list", list)[0]!);
    expect(readListText("entities_accepted")).toBe("BH Bright Homes Inc Allowed");
    expect(readListText("entities_rejected")).toBe("AS Acme Solar LLC Declined");
    expect(readListText("entities")).toBe("TP Third Party Ltd Not asked");
  });

  test("are shown as all accepted if none was declined", async () => {
    const receipt = await issueCertificate({ entities: ["Acme Solar LLC"], entities_accepted: ["Acme Solar LLC"], entities_rejected: [] });
    const page = await open(receipt.cert_id);
    expect(extractWords(withAttribute(page.document, "data-list", "entities_rejected")[0]!)).toBe(
      "The person didn’t decline any of the recipients.",
    );
  });

  test("are in the singular if there is one", async () => {
    const page = await open((await issueCertificate({ entities: ["Acme Solar LLC"] })).cert_id);
    expect(extractWords(findSection(page, "recipients"))).toBe(
      "Who may contact them The form named this recipient. AS Acme Solar LLC Allowed",
    );
  });

  test("are all on the page if there are a thousand", async () => {
    const entities = Array.from({ length: 1_000 }, (_, at) => `Partner ${String(at).padStart(4, "0")}`);
    const page = await open((await issueCertificate({ entities })).cert_id);
    expect(listBoundTexts(page, "entity")).toEqual(entities);
    expect(extractWords(findByTagName(findSection(page, "recipients"), "summary")[0]!)).toBe("988 more recipients");
  });
});

describe("certificate status", () => {
  test("says that a sandbox certificate is not evidence", async () => {
    const body = { ...buildSubmission(), client_id: world.acme.clients.sandbox, page_url: "http://localhost:3000/" };
    const { data } = (await submitConsent(body, { origin: "http://localhost:3000" })).body;
    const page = await open(data.cert_id);
    expect(readStatusText(page)).toMatch(/^Active Test Issued/);
    expect(extractText(page.document)).toContain("It isn’t evidence of consent.");
  });

  test("says when the business received a withdrawal that it recorded, because the deadline counts from that time", async () => {
    const { cert_id } = await issueCertificate();
    const headers = { authorization: `Bearer ${world.acme.keys.live}`, "content-type": "application/json" };
    const body = JSON.stringify({ method: "phone", received_at: "2026-11-20T10:00:00.000Z" });
    expect((await call(`/v1/certs/${cert_id}/withdrawals`, { method: "POST", headers, body })).status).toBe(201);
    const timeline = extractWords(findSection(await open(cert_id), "timeline"));
    expect(timeline).toMatch(/Withdrawal request received by the business ?20 November 2026.*By the end of 4 December 2026/);
  });

  test("says that a certificate is withdrawn, and no longer how to withdraw", async () => {
    const { cert_id } = await issueCertificate();
    await insertWithdrawal(env.DB, cert_id).run();
    const page = await open(cert_id);
    expect(readStatusText(page)).toMatch(/^Withdrawn Issued/);
    expect(extractWords(page.document)).toMatch(
      /Consent withdrawn on \d.*Each recipient below must stop contacting this person by the end of \d{1,2} [A-Z][a-z]+ \d{4} \(UTC\)\. .*Acme Solar LLC hasn’t confirmed/,
    );
    expect(extractWords(findSection(page, "timeline"))).toContain("Withdrawn by the person");
    const recipients = extractWords(findSection(page, "recipients"));
    expect(recipients).toMatch(/^Who must stop contacting them/);
    expect(recipients.match(/Withdrawn/g)).toHaveLength(2);
    expect(recipients).not.toMatch(/Who may contact|Allowed/);
    expect(listSectionNames(page)).not.toContain("withdrawal");
  });

  test("says that details are erased, and shows nothing masked", async () => {
    const { cert_id } = await issueCertificate();
    await eraseCertificate(cert_id);
    const page = await open(cert_id);
    expect(extractWords(findSection(page, "details"))).toContain("The person’s details were erased.");
    expect(extractWords(findSection(page, "timeline"))).toContain("Person’s details erased");
    expect(page.text).not.toContain("***");
  });

  test("shows the Global Privacy Control signal of the browser", async () => {
    const { body } = await submitConsent(buildSubmission(), { "sec-gpc": "1" });
    const page = await open(body.data.cert_id);
    expect(extractWords(findSection(page, "details"))).toContain("Global Privacy Control");
  });
});

describe("the timeline", () => {
  interface State {
    readonly drained_at: number | null;
    readonly status: "pending" | "anchored";
    readonly anchored_at: number | null;
  }

  /** Opens the page in this state. If background work changes the state in the meantime, tries again. */
  const openIn = async (certId: string, state: State): Promise<ReadPage> => {
    for (;;) {
      if (state.status === "anchored") await submitAnchors(basePlatform);
      await env.DB.batch([
        env.DB.prepare("DELETE FROM audit_batches"),
        env.DB.prepare(
          "INSERT INTO audit_batches SELECT substr(c.business_id, 5, 2), c.change_ord, ?1 FROM certificates c WHERE c.id = ?2 AND ?1 IS NOT NULL",
        ).bind(state.drained_at, certId),
        env.DB.prepare("DELETE FROM anchors WHERE entity_id = ?").bind(certId),
        state.status === "anchored"
          ? env.DB.prepare(
              `UPDATE receipts SET anchored_at = ?1 WHERE ord = (SELECT receipt_ord FROM ${statementsSql} WHERE entity_id = ?2)`,
            ).bind(state.anchored_at, certId)
          : env.DB.prepare(
              `INSERT INTO anchors (ord, ledger_id, kind, entity_id, event, statement, status, attempts, next_at, created_at)
               SELECT change_ord, ?1, 'event', id, 'certificate.issued', '{}', 'parked', 1, 9007199254740991, issued_at FROM certificates WHERE id = ?2`,
            ).bind(`tlog:${env.LEDGER_ORIGIN}`, certId),
      ]);
      const page = await open(certId);
      const found = await env.DB.prepare(
        `SELECT (SELECT b.recorded_at FROM audit_batches b WHERE b.ord >= o.ord) AS drained_at,
           iif(a.status = 'anchored', 'anchored', 'pending') AS status,
           (SELECT r.anchored_at FROM receipts r WHERE r.ord = a.receipt_ord) AS anchored_at
         FROM ${auditEntriesSql} o JOIN ${statementsSql} a ON a.entity_id = o.entity_id WHERE o.entity_id = ?`,
      )
        .bind(certId)
        .first<State>();
      if (JSON.stringify(found) === JSON.stringify(state)) return page;
    }
  };

  test("shows pending entries as pending", async () => {
    const { cert_id } = await issueCertificate();
    const text = extractWords(findSection(await openIn(cert_id, { drained_at: null, status: "pending", anchored_at: null }), "timeline"));
    expect(text).toContain("Not in the audit log yet");
    expect(text).toContain("Not in the public log yet tlog:ledger.svc.test/ledger/test");
    expect(text).not.toMatch(/Recorded/);
  });

  test("shows the audit log entry and the anchor with their times once they exist", async () => {
    const { cert_id } = await issueCertificate();
    const at = Date.UTC(2026, 2, 4, 5, 6, 7, 89);
    const text = extractWords(findSection(await openIn(cert_id, { drained_at: at, status: "anchored", anchored_at: at }), "timeline"));
    expect(text).toContain("Recorded in the audit log 4 March 2026, 05:06 UTC");
    expect(text).toContain("Recorded in the public log 4 March 2026, 05:06 UTC tlog:ledger.svc.test/ledger/test");
    expect(text).not.toMatch(/log yet/);
  });

  test("is in order: an anchor that is later than the withdrawal follows it", async () => {
    const { cert_id } = await issueCertificate();
    await insertWithdrawal(env.DB, cert_id).run();
    const at = Date.now() + 3_600_000;
    const text = extractWords(
      findSection(await openIn(cert_id, { drained_at: at - 1_800_000, status: "anchored", anchored_at: at }), "timeline"),
    );
    const places = [
      "Issued",
      "Withdrawn by the person",
      "Contact must stop",
      "Recorded in the audit log",
      "Recorded in the public log",
    ].map((what) => text.indexOf(what));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});

describe("policies", () => {
  // The tests replace the link from a certificate to its policies, which background work may already have made. This trigger would prevent
  // the replacement.
  beforeAll(() => env.DB.exec("DROP TRIGGER certificates_policies_linked"));

  const insertCaptures = async (certId: string, rows: readonly (readonly [kind: string, url: string])[]): Promise<void> => {
    const ids = new Map(rows.map(([kind]) => [kind, `pol_${kind}_${certId}`]));
    await env.DB.batch([
      ...rows.map(([kind, url]) =>
        env.DB.prepare(
          "INSERT INTO policy_snapshots (id, domain, kind, source_url, content_hash, captured_at) VALUES (?, ?, ?, ?, ?, ?)",
        ).bind(ids.get(kind)!, certId, kind, url, "ab".repeat(32), Date.UTC(2026, 0, 2, 3, 4)),
      ),
      env.DB.prepare("INSERT INTO policy_captures (id, domain, captured_at, privacy_id, terms_id) VALUES (?, ?, 1, ?, ?)").bind(
        `cap_${certId}`,
        certId,
        ids.get("privacy") ?? null,
        ids.get("terms") ?? null,
      ),
      env.DB.prepare("UPDATE certificates SET policy_capture_id = (SELECT ord FROM policy_captures WHERE id = ?) WHERE id = ?").bind(
        `cap_${certId}`,
        certId,
      ),
    ]);
  };

  test("are shown with URL, date and hash", async () => {
    const { cert_id } = await issueCertificate();
    await insertCaptures(cert_id, [
      ["privacy", "https://www.example.com/privacy"],
      ["terms", "https://www.example.com/terms"],
    ]);
    const text = findSection(await open(cert_id), "policies");
    expect(extractWords(text)).toContain("Privacy policy https://www.example.com/privacy · saved 2 January 2026, 03:04 UTC");
    expect(extractWords(text)).toContain(`SHA-256 ${"ab".repeat(32)}`);
    expect(findByTagName(text, "a").map((link) => link.attribs)).toEqual([
      { href: "https://www.example.com/privacy", rel: "nofollow noopener noreferrer external" },
      { href: "https://www.example.com/terms", rel: "nofollow noopener noreferrer external" },
    ]);
  });

  test("are shown as pending before they are fetched", async () => {
    const { cert_id } = await issueCertificate();
    // Keeps the background fetch from changing the state during the test.
    await env.DB.exec(
      "CREATE TRIGGER looks_stay_unlinked BEFORE UPDATE OF policy_capture_id ON certificates WHEN NEW.policy_capture_id IS NOT NULL BEGIN SELECT RAISE(ABORT, 'not now'); END",
    );
    await env.DB.prepare("UPDATE certificates SET policy_capture_id = NULL WHERE id = ?").bind(cert_id).run();
    const page = await open(cert_id);
    await env.DB.exec("DROP TRIGGER looks_stay_unlinked");
    expect(extractWords(findSection(page, "policies"))).toContain("haven’t been saved yet.");
  });

  test("are shown as missing if none could be fetched", async () => {
    const { cert_id } = await issueCertificate();
    await insertCaptures(cert_id, []);
    expect(extractWords(findSection(await open(cert_id), "policies"))).toContain(
      "We couldn’t save a privacy policy or terms from the website.",
    );
  });
});

describe("personal data", () => {
  test("nothing typed into the form and nothing about the visitor is on the page or in its headers", async () => {
    const fields = {
      email: "markeraddress@markerdomain.example",
      first_name: "Markerfirst",
      last_name: "Markerlast",
      phone: "+1 202 555 0187",
      address_line1: "77 Markerstreet",
      marker_key: "markervalue",
    };
    const { body } = await submitConsent(
      { ...buildSubmission(), fields },
      { "user-agent": "Markeragent/9", "cf-connecting-ip": "203.0.113.77" },
    );
    for (const certId of [body.data.cert_id]) {
      await open(certId, { "user-agent": `${browser} Markeropener`, "cf-connecting-ip": "203.0.113.78" });
      const page = await open(certId);
      const everything = page.text + JSON.stringify([...page.headers]);
      for (const marker of [
        "arkeraddress",
        "arkerdomain",
        "arkerfirst",
        "arkerlast",
        "555 0187",
        "2025550187",
        "arkerstreet",
        "markervalue",
        "Markeragent",
        "Markeropener",
        "203.0.113",
        "utm=1",
      ]) {
        expect(everything, marker).not.toContain(marker);
      }
      expect(extractWords(findSection(page, "details"))).toContain("Email m***@m***.example");
    }
  });

  test("the secret of the manage link does not appear", async () => {
    const { cert_id, manage_url } = await issueCertificate();
    const secret = String(manage_url).split("#m=")[1]!;
    expect((await open(cert_id)).text).not.toContain(secret);
  });
});

describe("response headers", () => {
  const expected = {
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex, nofollow",
    "strict-transport-security": "max-age=31536000; includeSubDomains",
  };

  test.each(["certificate", "format", "unknown", "wrong method"])("of the %s page allow only files of this origin", async (kind) => {
    const { cert_id } = await issueCertificate();
    const path = { certificate: cert_id, format: "format", unknown: "nothing", "wrong method": cert_id }[kind];
    const page = await read(`/c/${path}`, { method: kind === "wrong method" ? "POST" : "GET" });
    // Only the certificate page may connect to this origin, because its script fetches the page again while something on it is pending.
    const policy = expected["content-security-policy"].replace(
      "data:; ",
      kind === "certificate" ? "data:; connect-src 'self'; " : "data:; ",
    );
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, page.headers.get(name)]))).toEqual({
      ...expected,
      "content-security-policy": policy,
    });
    expect(page.headers.get("x-request-id")).toMatch(/^req_/);
    expect(page.headers.get("set-cookie")).toBeNull();
    expect(page.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("do not depend on request headers that claim another host", async () => {
    const { cert_id } = await issueCertificate();
    const machine = { "user-agent": "Slackbot 1.0" }; // its views are not counted, so two responses can be equal
    const readHonestPage = async (): Promise<string> => (await open(cert_id, machine)).text;
    const spoofed: Record<string, string>[] = [
      { host: "evil.example" },
      { "x-forwarded-host": "evil.example" },
      { "x-forwarded-server": "evil.example" },
      { "x-forwarded-proto": "ftp" },
      { "x-forwarded-port": "666" },
      { "x-forwarded-prefix": "/evil" },
      { "x-forwarded-for": "203.0.113.9" },
      { forwarded: "host=evil.example;proto=http" },
      { "x-host": "evil.example" },
      { "x-http-host-override": "evil.example" },
      { "x-original-host": "evil.example" },
      { "x-original-url": "/c/evil" },
      { "x-rewrite-url": "/c/evil" },
      { origin: "https://evil.example" },
      { referer: "https://evil.example/" },
      { cookie: "lang=es; host=evil.example" },
    ];
    const { exports } = await import("cloudflare:workers");
    const requests = [
      ...spoofed.map((headers) => async (): Promise<string> => (await open(cert_id, { ...machine, ...headers })).text),
      async (): Promise<string> =>
        (await exports.default.fetch(new Request(`http://evil.example/c/${cert_id}`, { headers: machine }))).text(),
    ];
    for (const [at, sendRequest] of requests.entries()) {
      // Policies and anchors may arrive in the meantime, so the response may equal the page before it or the page after it.
      const [before, spoofed, after] = [await readHonestPage(), await sendRequest(), await readHonestPage()];
      expect([before, after], `spoofed header ${at}`).toContain(spoofed);
      expect(spoofed).toContain(`http://svc.test/c/${cert_id}`);
      expect(spoofed).not.toContain("evil.example");
    }
  });
});

describe("error pages", () => {
  test("are the same for an unknown and a misspelled address, and repeat neither", async () => {
    const unknown = `cc_00${"0".repeat(24)}`;
    const unknownHome = `cc_zz${"0".repeat(24)}`;
    const pages = await Promise.all(
      [
        unknown,
        unknownHome,
        "nothing",
        unknown.toUpperCase(),
        `${unknown}0`,
        "%00",
        "%E0%A4%A",
        "..%2f",
        "<b>",
        `${unknown}/`,
        "a/b",
        "",
      ].map((id) => open(id)),
    );
    for (const page of pages) {
      expect(page.status).toBe(404);
      expect(page.headers.get("content-type")).toBe("text/html; charset=UTF-8");
      expect(page.text).toBe(pages[0]?.text);
    }
    expect(findByTagName(pages[0]!.document, "h1").map(extractText)).toEqual(["Certificate not found"]);
    expect(pages[0]!.text).not.toContain(unknown);
  });

  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("return 405 and the allowed methods for %s", async (method) => {
    const page = await read(`/c/${(await issueCertificate()).cert_id}`, { method });
    expect(page.status).toBe(405);
    expect(page.headers.get("allow")).toBe("GET, HEAD");
    expect(findByTagName(page.document, "h1").map(extractText)).toEqual(["This page is read-only"]);
    expect(
      findByTagName(page.document, "main")
        .flatMap((main) => findByTagName(main, "a"))
        .map(extractText),
    ).toEqual(["Open this page"]);
  });

  test("return the headers of GET and no body for HEAD", async () => {
    const { cert_id } = await issueCertificate();
    const [head, full] = [await open(cert_id, {}, { method: "HEAD" }), await open(cert_id)];
    expect(head.status).toBe(200);
    expect(head.text).toBe("");
    expect(head.headers.get("content-type")).toBe(full.headers.get("content-type"));
    expect(head.headers.get("content-security-policy")).toBe(full.headers.get("content-security-policy"));
  });

  test("return 503 with Retry-After while storage is unavailable, and the next request works", async () => {
    const { cert_id } = await issueCertificate();
    const failQuery = (): Promise<never> => Promise.reject(new Error("D1_ERROR: Network connection lost."));
    const statement = { bind: () => statement, first: failQuery, all: failQuery, run: failQuery, raw: failQuery };
    const callDuringOutage = createServiceCall({ DB: { prepare: () => statement, batch: failQuery } });
    const page = await read(`/c/${cert_id}`, { headers: { "user-agent": browser } }, callDuringOutage);
    expect(page.status).toBe(503);
    expect(page.headers.get("retry-after")).toBe("1");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(findByTagName(page.document, "h1").map(extractText)).toEqual(["This page is unavailable right now"]);
    expect(extractWords(page.document)).toContain(page.headers.get("x-request-id")!);
    expect((await open(cert_id)).status).toBe(200);
  });

  test.each([
    ["en", "If you report this problem, include this request ID:", "To report this problem, email {support} and include this request ID:"],
    ["es", "Si informa de este problema, indique", "Para informar de este problema, escriba a {support} e indique"],
    ["fr", "Si vous signalez ce problème, indiquez", "Pour signaler ce problème, écrivez à {support} et indiquez"],
  ])("name the support address in %s while storage is unavailable, if the deployment has one", async (language, without, withAddress) => {
    const { cert_id } = await issueCertificate();
    const fail = (): Promise<never> => Promise.reject(new Error("D1_ERROR: Network connection lost."));
    const statement = { bind: () => statement, first: fail, all: fail, run: fail, raw: fail };
    const readError = (SUPPORT_EMAIL: string) =>
      read(
        `/c/${cert_id}?lang=${language}`,
        { headers: { "user-agent": browser } },
        createServiceCall({ SUPPORT_EMAIL, DB: { prepare: () => statement, batch: fail } }),
      );
    const anonymous = await readError("");
    expect(extractWords(anonymous.document)).toContain(without);
    expect(anonymous.text).not.toContain("mailto:");
    const named = await readError("who?&me@svc.example");
    expect(extractWords(named.document)).toContain(withAddress.replace("{support}", "who?&me@svc.example"));
    expect(findByTagName(named.document, "a").map(({ attribs }) => attribs.href)).toContain("mailto:who%3F%26me@svc.example");
  });

  test("return 429 with the time to wait after too many views from one address", async () => {
    const platform = await createPlatform({ ...env, DEV_RATE_SCALE: "1", LIMIT_VERIFY_PER_IP: "2/60" } as never);
    const app = buildApp(platform);
    const { cert_id } = await issueCertificate();
    const requestFrom = (ip: string) =>
      app.fetch(new Request(`http://svc.test/c/${cert_id}`, { headers: { "cf-connecting-ip": ip } }), env, createExecutionContext());
    expect([(await requestFrom("203.0.113.1")).status, (await requestFrom("203.0.113.1")).status]).toEqual([200, 200]);
    const limited = await requestFrom("203.0.113.1");
    expect(limited.status).toBe(429);
    expect(limited.headers.get("content-type")).toBe("text/html; charset=UTF-8");
    const seconds = limited.headers.get("retry-after");
    expect(Number(seconds)).toBeGreaterThanOrEqual(1);
    expect(await limited.text()).toMatch(new RegExp(`Wait ${seconds} seconds?, then reload this page\\.`));
    expect((await requestFrom("203.0.113.2")).status).toBe(200);
  });
});

describe("in production", () => {
  const createProductionCall = async () => {
    const settings = { ...env, ...productionSettings };
    const {
      DEV_RATE_SCALE: _scale,
      DEV_CLOCK_OFFSET_MS: _offset,
      DEV_BATCH_WINDOW_MS: _gather,
      DEV_FETCH_ALLOW: _allow,
      ...fit
    } = settings as Record<string, unknown>;
    const app = buildApp(await createPlatform(fit as never));
    return (url: string): Response | Promise<Response> => app.fetch(new Request(url), env, createExecutionContext());
  };

  test("the page is served by its own host only", async () => {
    const callProduction = await createProductionCall();
    const { cert_id } = await issueCertificate();
    expect((await callProduction(`https://verify.svc.test/c/${cert_id}`)).status).toBe(200);
    for (const host of ["api", "cdn", "mcp", "app", "evil"]) {
      expect((await callProduction(`https://${host}.svc.test/c/${cert_id}`)).status, host).toBe(404);
    }
  });

  test("an unknown path is a page on the certificate host and JSON on the API host", async () => {
    const callProduction = await createProductionCall();
    for (const path of ["/c/nothing", "/robots.txt", "/v1/certs"]) {
      const response = await callProduction(`https://verify.svc.test${path}`);
      expect(response.status, path).toBe(404);
      expect(response.headers.get("content-type"), path).toBe("text/html; charset=UTF-8");
    }
    expect((await callProduction("https://api.svc.test/v1/nothing")).headers.get("content-type")).toBe("application/json");
  });
});

describe("languages", () => {
  test.each([
    ["", "en"],
    ["es", "es"],
    ["es-419", "es"],
    ["ES-mx", "es"],
    ["fr", "fr-CA"],
    ["fr-CA", "fr-CA"],
    ["fr-FR,fr;q=0.9,en;q=0.8", "fr-CA"],
    ["de, es;q=0.5, fr;q=0.7", "fr-CA"],
    ["en;q=0.1, es;q=0.2", "es"],
    ["es;q=0, fr;q=0.001", "fr-CA"],
    ["es;q=0", "en"],
    ["es;q=2, fr;q=0.1", "fr-CA"],
    ["de, *;q=0.5", "en"],
    ["fr;q=0.5, es;q=0.5", "fr-CA"],
    ["  es ; q=0.9 ", "es"],
    [",,;q=1,es", "es"],
    ["espresso", "en"],
    [`${"xx,".repeat(60)}es`, "en"],
    ["\u00e9s", "en"],
  ])("Accept-Language %j selects %s", async (header, language) => {
    const page = await open("nothing", { "accept-language": header });
    const [root] = findByTagName(page.document, "html");
    expect([root?.attribs.lang, root?.attribs.dir, page.headers.get("content-language")]).toEqual([language, "ltr", language]);
    expect(page.headers.get("vary")).toContain("Accept-Language");
  });

  test.each([
    ["es", "es"],
    ["fr-CA", "fr-CA"],
    ["FR-ca", "fr-CA"],
    ["fr", "fr-CA"],
    ["es-MX", "es"],
    ["xx", "es"],
    ["", "es"],
    ["<script>", "es"],
    ["__proto__", "es"],
  ])("?lang=%s overrides the browser only if the language is supported", async (query, language) => {
    const page = await read(`/c/nothing?lang=${encodeURIComponent(query)}`, { headers: { "accept-language": "es" } });
    expect(findByTagName(page.document, "html")[0]?.attribs.lang).toBe(language);
  });

  test("the selected language is in every link to a page, and the current one is marked", async () => {
    const page = await read(`/c/${(await issueCertificate()).cert_id}?lang=fr-CA`, { headers: { "user-agent": browser } });
    const links = findByTagName(page.document, "a").filter((link) => /^(?:format|\?)/.test(link.attribs.href ?? ""));
    expect(links.map((link) => [link.attribs.href, link.attribs["aria-current"]])).toEqual([
      ["?lang=en", undefined],
      ["?lang=es", undefined],
      ["?lang=fr-CA", "true"],
      ["format?lang=fr-CA", undefined],
      ["format?lang=fr-CA", undefined],
    ]);
  });

  test.each(languages.map((language) => [language]))("in %s no placeholder is left unfilled", async (language) => {
    const requestedEntities = { entities_accepted: ["Acme Solar LLC"], entities_rejected: [] };
    for (const certId of [(await issueCertificate()).cert_id, (await issueCertificate(requestedEntities)).cert_id, "format", "nothing"]) {
      const page = await read(`/c/${certId}?lang=${language}`, { headers: { "user-agent": browser } });
      expect(extractText(page.document).replaceAll(/\{"business".*\}/g, "")).not.toMatch(/\{\w*\}|undefined|\[object/);
    }
  });

  test("every language has the same placeholders as English", () => {
    const listPlaceholders = (value: unknown, path = ""): string[] =>
      typeof value === "string"
        ? [`${path}: ${(value.match(/\{\w+\}/g) ?? []).sort().join(" ")}`]
        : Object.entries(value as object).flatMap(([key, inner]) => listPlaceholders(inner, `${path}.${key}`));
    for (const language of languages)
      expect(listPlaceholders(publicMessages[language]).sort(), language).toEqual(listPlaceholders(publicMessages.en).sort());
  });

  test("text from third parties has no language, its own direction, and is not translated", async () => {
    const page = await open((await issueCertificate()).cert_id, { "accept-language": "es" });
    const foreign = findByTagName(page.document, "bdi");
    expect(foreign.length).toBeGreaterThan(8);
    for (const { attribs } of foreign) expect(attribs).toMatchObject({ dir: "auto", lang: "", translate: "no" });
  });
});
