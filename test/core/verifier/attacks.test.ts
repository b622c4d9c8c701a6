// Tests packs in which a dishonest issuer tries to hide a false statement: with an erasure, with an older format, in the data of a second
// recipient, or in a member that no evidence binds. The issuer lists, renders and signs everything again with the right key. Also checks
// the table in docs/reference/proof-checks.md.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../core/canonical-json.ts";
import { buildPackFiles } from "../../../core/certificates/evidence-pack.ts";
import { trustOf } from "../../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../../verifier/verify-pack.ts";
import { issuer, plainTrust, buildWorld, type EvidenceOptions } from "./evidence.ts";
import {
  editCertificate,
  editJson,
  editWithdrawal,
  removeEntry,
  removeFiles,
  removePayload,
  removeReceipts,
  type Change,
} from "./pack-changes.ts";
import { readJson, resignFiles, setJson, setText, readText, withFittingPage, zipFiles } from "./repack.ts";

const recent: EvidenceOptions = { isRecent: true, anchors: "anchored" };
const twoRecipients = ["Bright Homes Inc", "€ Euro SA"];
const buildPack = async (options: EvidenceOptions) => buildPackFiles((await buildWorld({ ...recent, ...options })).parts);
const erased = await buildPack({ isErased: true });
const erasedWithdrawn = await buildPack({ isErased: true, isRevoked: true, isAcknowledged: true });
const erasedPartly = await buildPack({ isErased: true, withdrawnFrom: twoRecipients, isCeasedInPart: true });
const redacted = await buildPack({ redacted: true });
const partly = await buildPack({ withdrawnFrom: twoRecipients, isCeasedInPart: true });
const overdue = await buildPack({ isRevoked: true });
const withdrawn = await buildPack({ isRevoked: true, isAcknowledged: true });

const getVerdictAfter = async (
  from: ReadonlyMap<string, Uint8Array>,
  keepsPage: boolean,
  ...changes: readonly Change[]
): Promise<string> => {
  const files = new Map(from);
  for (const change of changes) await change(files);
  const report = await verifyPack(zipFiles(await resignFiles(keepsPage ? files : withFittingPage(files), issuer)), {
    ...defaultVerificationOptions,
    trust: trustOf(plainTrust),
  });
  const names = report.failed ?? report.missing.map((line) => line.slice(0, line.indexOf(":"))).join(", ");
  return `${report.verdict} ${names}`.trim();
};

const editRecipient = (at: number, members: JsonObject): Change =>
  editJson("certificate.json", (c) => ({
    ...c,
    entities_withdrawn: (c.entities_withdrawn as JsonObject[]).map((one, index) => (index === at ? { ...one, ...members } : one)),
  }));
const omitRecipientMembers = (...names: readonly string[]): Change =>
  editJson("certificate.json", (c) => ({
    ...c,
    entities_withdrawn: (c.entities_withdrawn as JsonObject[]).map(
      (one) => Object.fromEntries(Object.entries(one).filter(([name]) => !names.includes(name))) as JsonObject,
    ),
  }));
const editPolicy =
  (members: JsonObject): Change =>
  (files) => {
    const change = (list: JsonObject[]): JsonObject[] => list.map((one, at) => (at === 0 ? { ...one, ...members } : one));
    editJson("certificate.json", (c) => ({ ...c, policies: change(c.policies as JsonObject[]) }))(files);
    setJson(files, "policies/index.json", change(readJson(files, "policies/index.json")));
  };
const removePolicies: Change = (files) => {
  removeFiles(/^policies\/.*\.txt$/)(files);
  setJson(files, "policies/index.json", []);
  editCertificate({ policies: [] })(files);
};
const renumberWithdrawal = (at: number, number: number): Change =>
  editJson("certificate.json", (c) => ({
    ...c,
    entities_withdrawn: (c.entities_withdrawn as JsonObject[]).map((one, index) =>
      index === at ? { ...one, receipt_url: String(one.receipt_url).replace(/=\d+$/, `=${number}`) } : one,
    ),
  }));
const addAttestation: Change = editJson("certificate.json", (c) => ({
  ...c,
  anchor: { ...(c.anchor as JsonObject), attested: { tree_size: "40", time: "2026-11-28T05:06:08.000Z", time_source: "rfc3161" } },
}));
const hideRecipientWithdrawals: Change = editJson("certificate.json", ({ entities_withdrawn: _, ...rest }) => rest);

const laterTime = "2027-03-01T00:00:00.000Z";

describe("honest recent packs", () => {
  test.each([
    ["erased", erased],
    ["erased after a withdrawal", erasedWithdrawn],
    ["erased after a withdrawal for individual recipients", erasedPartly],
    ["withdrawn", withdrawn],
    ["withdrawn from single recipients", partly],
    ["redacted", redacted],
  ] as const)("are valid: %s", async (_, pack) => {
    expect(await getVerdictAfter(pack, true)).toBe("valid");
  });
});

interface Attack {
  readonly lie: string;
  /** The verdict and the checks, as in the table in docs/reference/proof-checks.md. */
  readonly found: string;
  readonly pack: ReadonlyMap<string, Uint8Array>;
  readonly changes: readonly Change[];
  /** True if the issuer leaves the page unchanged. By default, the issuer renders it again. */
  readonly keepsPage?: true;
}
const createAttack = (lie: string, found: string, pack: Attack["pack"], ...changes: readonly Change[]): Attack => ({
  lie,
  found,
  pack,
  changes,
});

const attacks: readonly Attack[] = [
  createAttack(
    "erased, without the payload of the issuance: a sandbox certificate is presented as live",
    "incomplete `audit.issuance`",
    erased,
    editCertificate({ environment: "sandbox", evidence: null }),
    removePayload("certificate.issued"),
  ),
  createAttack(
    "erased, without the payload of the policies: other policies",
    "incomplete `audit.policies`",
    erased,
    removePolicies,
    removePayload("policy.linked"),
  ),
  createAttack(
    "erased, without the payload of the withdrawal: a different method",
    "incomplete `audit.status`",
    erasedWithdrawn,
    editWithdrawal({ method: "manage_link" }),
    removePayload("certificate.revoked"),
  ),
  createAttack(
    "erased, without the payload of the withdrawal: a different scope",
    "incomplete `audit.status`",
    erasedWithdrawn,
    editWithdrawal({ scope: "business" }),
    removePayload("certificate.revoked"),
  ),
  createAttack(
    "erased, without the payload of the recipient's withdrawal: the withdrawal is hidden",
    "invalid `audit.status`",
    erasedPartly,
    hideRecipientWithdrawals,
    removeReceipts,
    removeEntry("business.entities_ceased"),
    removePayload("certificate.entities_withdrawn"),
  ),
  createAttack(
    "erased, without the payload of a recipient's acknowledgment: an acknowledgment is invented",
    "incomplete `audit.status`",
    erasedPartly,
    editRecipient(1, { cease_acknowledged_at: laterTime }),
    removePayload("business.entities_ceased"),
  ),
  createAttack(
    "erased, without the payload of the erasure",
    "incomplete `audit.status`",
    erased,
    removePayload("certificate.subject_erased"),
  ),
  createAttack(
    "erased, without the payload of the acknowledgment",
    "incomplete `audit.status`",
    erasedWithdrawn,
    removePayload("business.ceased"),
  ),
  createAttack("a withdrawal without its entry", "invalid `audit.status`", withdrawn, removeEntry("certificate.revoked")),
  createAttack(
    "a withdrawal for individual recipients without its entry",
    "invalid `audit.status`",
    partly,
    removeEntry("certificate.entities_withdrawn"),
  ),
  createAttack("an acknowledgment without its entry", "invalid `audit.status`", withdrawn, removeEntry("business.ceased")),
  createAttack("a recipient's acknowledgment without its entry", "invalid `audit.status`", partly, removeEntry("business.entities_ceased")),
  createAttack("an erasure without its entry", "invalid `audit.status`", erased, removeEntry("certificate.subject_erased")),
  createAttack("policies without their entry", "invalid `audit.policies`", withdrawn, removeEntry("policy.linked")),
  createAttack("an entry with policies that are not on the certificate", "invalid `audit.policies`", withdrawn, removePolicies),
  createAttack(
    "policies presented as pending, although a `policy.linked` entry records the outcome",
    "invalid `audit.policies`",
    withdrawn,
    editCertificate({ policies_status: "pending" }),
  ),
  createAttack("a deadline on an active certificate", "invalid `audit.status`", partly, editCertificate({ cease_by: laterTime })),
  createAttack(
    "presented as an older format: a recent withdrawal for individual recipients without receipts, methods and times of receipt",
    "incomplete `entities.receipt`",
    partly,
    removeReceipts,
    omitRecipientMembers("method", "received_at"),
  ),
  createAttack(
    "presented as an older format: a recent certificate without methods",
    "invalid `entities.receipt`",
    partly,
    omitRecipientMembers("method"),
  ),
  createAttack(
    "a different method for the second recipient only",
    "invalid `entities.receipt`",
    partly,
    editRecipient(1, { method: "manage_link" }),
  ),
  createAttack(
    "a different method for the second recipient only, without receipts",
    "invalid `audit.status`",
    partly,
    removeReceipts,
    editRecipient(1, { method: "manage_link" }),
  ),
  createAttack(
    "a different time for the second recipient only, without receipts",
    "invalid `audit.status`",
    partly,
    removeReceipts,
    editRecipient(1, { withdrawn_at: "2026-12-30T06:06:08.010Z" }),
  ),
  createAttack("the second recipient in a separate withdrawal", "invalid `entities.receipt`", partly, renumberWithdrawal(1, 2)),
  createAttack(
    "withdrawals that are not numbered from 1",
    "invalid `audit.status`",
    partly,
    removeReceipts,
    renumberWithdrawal(0, 3),
    renumberWithdrawal(1, 3),
  ),
  createAttack(
    "a wrong URL for the receipt of a recipient's withdrawal",
    "invalid `cert.consistency`",
    partly,
    editRecipient(0, { receipt_url: "https://svc.example/v1/certs/cc_other/receipt?withdrawal=1" }),
  ),
  createAttack(
    "the acknowledgment moved to another recipient",
    "invalid `audit.status`",
    partly,
    editRecipient(0, { cease_acknowledged_at: null, overdue: true }),
  ),
  createAttack(
    "a different time of receipt by the business",
    "invalid `audit.status`",
    withdrawn,
    editWithdrawal({ method: "business_recorded", received_at: "2026-12-30T01:00:00.000Z" }),
  ),
  createAttack(
    "a withdrawal by the person, presented as received by the business",
    "invalid `cert.consistency`",
    withdrawn,
    editWithdrawal({ received_at: "2026-12-30T01:00:00.000Z" }),
  ),
  createAttack(
    "a different policy URL",
    "invalid `audit.policies`",
    withdrawn,
    editPolicy({ source_url: "https://www.acme-solar.example/new" }),
  ),
  createAttack(
    "a different policy capture time",
    "invalid `audit.policies`",
    withdrawn,
    editPolicy({ captured_at: "2026-11-28T05:06:07.089Z" }),
  ),
  createAttack("a different policy ID", "invalid `audit.policies`", withdrawn, editPolicy({ id: "pol_other" })),
  createAttack(
    "redacted: a different browser privacy signal",
    "invalid `audit.issuance`",
    redacted,
    editCertificate({ signals: { gpc: true } }),
  ),
  createAttack("an overdue withdrawal presented as on time", "invalid `cert.consistency`", overdue, editWithdrawal({ overdue: false })),
  createAttack(
    "personal details on an erased certificate",
    "invalid `cert.consistency`",
    erased,
    editCertificate({ subject: { email: "p***@example.com" } }),
  ),
  createAttack(
    "a list of omissions with an unknown name",
    "invalid `cert.consistency`",
    redacted,
    editJson("manifest.json", (m) => ({ ...m, redacted: [...(m.redacted as string[]), "withdrawal"].sort() })),
  ),
  createAttack(
    "an anchor on the certificate that is older than the certificate",
    "invalid `anchor.statement`",
    withdrawn,
    editJson("certificate.json", (c) => ({
      ...c,
      anchor: { ...(c.anchor as JsonObject), anchored_at: "2026-11-20T00:00:00.000Z" },
    })),
  ),
  createAttack("an attestation on the certificate that is not in the pack", "incomplete `attest.inclusion`", withdrawn, addAttestation),
  createAttack("withdrawal files without the statement, with an active certificate", "invalid `revoke.statement`", partly, (files) => {
    files.set("anchors/revoked/receipt.json", withdrawn.get("anchors/revoked/receipt.json") as Uint8Array);
  }),
  {
    ...createAttack("a `certificate.html` that shows a withdrawn certificate as active", "invalid `cert.consistency`", withdrawn, (files) =>
      setText(
        files,
        "certificate.html",
        readText(files, "certificate.html").replace("<strong>Withdrawn</strong>", "<strong>Active.</strong>"),
      ),
    ),
    keepsPage: true,
  },
  {
    ...createAttack("a `certificate.html` with an extra sentence", "invalid `cert.consistency`", redacted, (files) =>
      setText(files, "certificate.html", readText(files, "certificate.html").replace("</main>", "<p>Everything was checked.</p></main>")),
    ),
    keepsPage: true,
  },
];

describe("a lie by the issuer", () => {
  test.each(attacks.map((one) => [one.lie, one] as const))("is found: %s (T8)", async (_, { found, pack, changes, keepsPage }) => {
    expect((await getVerdictAfter(pack, keepsPage ?? false, ...changes)).replace(/[a-z]+\.[a-z_.]+/g, "`$&`")).toBe(found);
  });

  test("has a row in docs/reference/proof-checks.md", () => {
    const table = ["| Lie | Reported as |", "|---|---|", ...attacks.map(({ lie, found }) => `| ${lie} | ${found} |`)].join("\n");
    expect(readFileSync("docs/reference/proof-checks.md", "utf8")).toContain(table);
  });
});

describe("an older format", () => {
  const older = { isOlderFormat: true, anchors: "anchored", withdrawnFrom: twoRecipients } as const;

  test("is accepted when everything was logged before the format changed", async () => {
    const pack = await buildPackFiles((await buildWorld(older)).parts);
    expect(await getVerdictAfter(pack, false)).toBe("valid");
    expect(await getVerdictAfter(pack, false, removeReceipts, omitRecipientMembers("method", "received_at"))).toBe("valid");
  });

  test("is incomplete when something was logged after the format changed", async () => {
    const pack = await buildPackFiles((await buildWorld({ ...older, isRecent: true })).parts);
    expect(await getVerdictAfter(pack, false)).toBe("incomplete audit.status, audit.policies");
  });
});
