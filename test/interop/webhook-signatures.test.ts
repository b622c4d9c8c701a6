// Runs the signature checks that docs/guides/first-hour.md and docs/guides/webhooks.md show for Node, Python, PHP, Go and Workers. Each
// check runs in its own language, exactly as printed, against the test vectors.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleSignatureVerifier } from "../../verifier/build.ts";
import vectors from "../vectors/webhook-signatures.json" with { type: "json" };

const folder = mkdtempSync(join(tmpdir(), "svc-signatures-"));
beforeAll(async () => writeFileSync(join(folder, "verify-signature.mjs"), await bundleSignatureVerifier()));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const extractSnippet = (heading: string, document = "docs/guides/first-hour.md"): string => {
  const found = new RegExp(`### ${heading}\\n(?:(?!\n### )[\\s\\S])*?\`\`\`[a-z]+\\n([\\s\\S]*?)\`\`\``).exec(
    readFileSync(document, "utf8"),
  );
  if (found?.[1] === undefined) throw new Error(`${document}: no ${heading}`);
  return found[1];
};

interface Case {
  readonly secret: string;
  readonly body: string;
  readonly header: string;
  readonly now_seconds: number;
  readonly valid: boolean;
}

/** The vectors, headers with two signatures (as during a rotation), and headers that are almost correct. */
const cases = ((): readonly Case[] => {
  const plain = vectors.signatures.map(({ t, v1, secret, body, now_seconds, valid }) => ({
    secret,
    body,
    now_seconds,
    valid,
    header: `t=${t},v1=${v1}`,
  }));
  const first = plain.find(({ valid }) => valid);
  if (first === undefined) throw new Error("no vectors");
  const other = `v1=${"0".repeat(64)}`;
  const { header } = first;
  const arabic = header.replace(/^t=\d+/, (time) => time.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit))));
  const rotated = [header.replace(",", `,${other},`), `${header},${other}`].map((rotatedHeader) => ({ ...first, header: rotatedHeader }));
  const nearly = [
    "",
    `${header} `,
    ` ${header}`,
    `${header}\n`,
    `${header},`,
    `${header},v0=1`,
    header.replace("t=", "t=0x"),
    header.replace("t=", "t=+"),
    header.replace("t=", "T="),
    header.replace(/v1=.*/, (signature) => signature.toUpperCase()),
    header.slice(0, -1),
    header.replace(",", ", "),
    arabic,
  ].map((invalidHeader) => ({ ...first, header: invalidHeader, valid: false }));
  return [...plain, ...rotated, ...nearly];
})();

const runVerifier = (command: string, args: readonly string[]): readonly string[] => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { input: JSON.stringify(cases), encoding: "utf8" });
  if (error !== undefined) throw new Error(`${command} is not there: npm test installs it`);
  expect([status, stderr]).toEqual([0, ""]);
  return stdout.trim().split("\n");
};

const expected = cases.map(({ valid }) => (valid ? "true" : "false"));

test("the documented Python agrees with every vector, and with a header with two signatures", () => {
  const program = `${extractSnippet("Python")}
import json, sys
for case in json.load(sys.stdin):
    print("true" if verify_signature(case["body"].encode(), case["header"], case["secret"], case["now_seconds"]) else "false")
print("false" if verify_signature(b"", None, "x", 0) is False else "true")
`;
  expect(runVerifier("python3", ["-c", program])).toEqual([...expected, "false"]);
});

test("the documented PHP agrees with every vector, and with a header with two signatures", () => {
  const program = `${extractSnippet("PHP")}
foreach (json_decode(stream_get_contents(STDIN), true) as $case)
  echo verify_signature($case['body'], $case['header'], $case['secret'], $case['now_seconds']) ? "true\\n" : "false\\n";
echo verify_signature('', null, 'x', 0) ? "true\\n" : "false\\n";
`;
  expect(runVerifier("php", ["-d", "display_errors=stderr", "-d", "error_reporting=-1", "-r", program])).toEqual([...expected, "false"]);
});

test("the documented Go agrees with every vector, and with a header with two signatures", () => {
  const source = extractSnippet("Go").replace("import (", 'import (\n\t"encoding/json"\n\t"fmt"\n\t"os"');
  writeFileSync(
    join(folder, "main.go"),
    `package main
${source}
func main() {
	var cases []struct {
		Secret, Body, Header string
		Now int64 \`json:"now_seconds"\`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	for _, one := range cases {
		fmt.Println(verifySignature([]byte(one.Body), one.Header, one.Secret, one.Now))
	}
	fmt.Println(verifySignature(nil, "", "x", 0))
}
`,
  );
  expect(runVerifier("go", ["run", join(folder, "main.go")])).toEqual([...expected, "false"]);
});

// Two of the programs read the clock themselves, so the test sets their clock to the vector's time.
const buildClockOverride = (now: number): string => `Date.now = () => ${now * 1_000};\n`;
const [vector, ...others] = cases.filter(
  ({ valid, secret, now_seconds }) => valid && secret === cases[0]?.secret && now_seconds === cases[0].now_seconds,
);

test("the documented Node server accepts only signed requests", async () => {
  if (vector === undefined) throw new Error("no vectors");
  const source = extractSnippet("Node").replace(
    ".listen(3000)",
    '.listen(0, "127.0.0.1", function () { console.log(this.address().port); })',
  );
  expect(source).toContain("this.address()");
  writeFileSync(
    join(folder, "receiver.mjs"),
    `${source}\nfunction handle(event) { console.log(JSON.stringify(event)); }\n${buildClockOverride(vector.now_seconds)}`,
  );
  const receiver = spawn(process.execPath, [join(folder, "receiver.mjs")], {
    env: { ...process.env, SVC_WEBHOOK_SECRET: vector.secret },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
    const port = (await lines.next()).value as string;
    const post = async (body: string, header: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers: { "svc-signature": header } })).status;
    expect(await post(`${vector.body} `, vector.header)).toBe(400);
    expect(await post(vector.body, "t=1,v1=0")).toBe(400);
    for (const { body, header } of [vector, ...others]) {
      expect(await post(body, header)).toBe(204);
      expect((await lines.next()).value).toBe(body);
    }
  } finally {
    receiver.kill();
  }
});

test("the documented Worker accepts only signed requests", async () => {
  if (vector === undefined) throw new Error("no vectors");
  const handled: unknown[] = [];
  writeFileSync(
    join(folder, "worker.mjs"),
    `${extractSnippet("Workers, Deno, Bun", "docs/guides/webhooks.md")}\nexport const handled = [];\nasync function handle(event) { handled.push(event); }\n`,
  );
  const worker = (await import(/* @vite-ignore */ join(folder, "worker.mjs"))) as {
    readonly default: { readonly fetch: (request: Request, env: object, context: object) => Promise<Response> };
    readonly handled: readonly unknown[];
  };
  const now = Date.now;
  Date.now = () => vector.now_seconds * 1_000;
  try {
    const post = async (body: string, header: string): Promise<number> => {
      const request = new Request("https://receiver.example", { method: "POST", body, headers: { "svc-signature": header } });
      const response = await worker.default.fetch(
        request,
        { SVC_WEBHOOK_SECRET: vector.secret },
        { waitUntil: (work: unknown) => handled.push(work) },
      );
      return response.status;
    };
    expect(await post(`${vector.body} `, vector.header)).toBe(400);
    expect(await post(vector.body, "t=1,v1=0")).toBe(400);
    expect(await post(vector.body, vector.header)).toBe(204);
  } finally {
    Date.now = now;
  }
  await Promise.all(handled);
  expect(worker.handled).toEqual([JSON.parse(vector.body)]);
});
