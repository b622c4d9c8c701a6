// The check of a signature that docs/webhooks.md hands to readers of Python, run as it is printed there against the vectors.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import vectors from "../vectors/webhook-signatures.json" with { type: "json" };

const snippet = (language: string): string => {
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readFileSync("docs/webhooks.md", "utf8"));
  if (found?.[1] === undefined) throw new Error(`docs/webhooks.md: no ${language}`);
  return found[1];
};

test("W20: the documented Python agrees with every vector, and with a header of two signatures", () => {
  const cases = vectors.signatures.map(({ secret, t, body, v1, now_seconds, valid }) => ({
    secret,
    body,
    now_seconds,
    valid,
    header: `t=${t},v1=${v1}`,
  }));
  const [first] = cases;
  if (first === undefined) throw new Error("no vectors");
  const other = `v1=${"0".repeat(64)}`;
  cases.push({ ...first, header: first.header.replace(",", `,${other},`) }, { ...first, header: `${first.header},${other}` });
  cases.push({ ...first, header: `${first.header} `, valid: false }, { ...first, header: "", valid: false });
  const program = `${snippet("python")}
import json, sys
for case in json.load(sys.stdin):
    print(verify_signature(case["body"].encode(), case["header"], case["secret"], case["now_seconds"]) == case["valid"])
`;
  const { status, stdout, stderr } = spawnSync("python3", ["-c", program], { input: JSON.stringify(cases), encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout.trim().split("\n")).toEqual(cases.map(() => "True"));
});
