// Runs docs/guides/sharing.md as printed: its tag in a browser, its commands in a shell, and its calls in four languages, against a local
// service in test mode.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildKit } from "../../kit/build.ts";
import { launchBrowser, openPage } from "../support/browser.ts";
import { startServiceForFile } from "../support/local-service.ts";
import { shareButtonSelector, waitUntilClickable } from "../support/share-visit.ts";

const text = readFileSync("docs/guides/sharing.md", "utf8");
const extractBlocks = (language: string): string[] =>
  [...text.matchAll(/```([a-z]*)\n([\s\S]*?)```/g)].flatMap(([, blockLanguage, block]) =>
    blockLanguage === language ? [block as string] : [],
  );
const [only = ""] = extractBlocks("html");

const folder = mkdtempSync(join(tmpdir(), "svc-sharing-guide-"));
const service = await startServiceForFile({ DEV_RATE_SCALE: "1000" });
beforeAll(async () => {
  mkdirSync(join(folder, "node_modules"));
  await buildKit(join(folder, "node_modules/svc"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const site = "http://localhost:3000";
const buildEnv = () => ({
  ...process.env,
  SVC: service.origin,
  CLIENT: service.world.acme.clients.sandbox,
  KEY: service.world.acme.keys.sandbox,
  SITE: site,
});

const runAndRead = async (command: string, args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> => {
  const child = spawn(command, args, { cwd: folder, env: { ...buildEnv(), ...more }, stdio: ["ignore", "pipe", "pipe"] });
  let [output, complained] = ["", ""];
  child.stdout.on("data", (part) => (output += String(part)));
  child.stderr.on("data", (part) => (complained += String(part)));
  const code = await new Promise((done) => child.on("close", done));
  expect([code, complained]).toEqual([0, ""]);
  return output;
};

interface PrintedResponse {
  readonly ok: boolean;
  readonly data: Readonly<Record<string, unknown>>;
  readonly error: { readonly code: string };
}
const parseResponses = (output: string): PrintedResponse[] =>
  [...output.matchAll(/\{"ok":.*?"request_id":"[^"]*"\}/g)].map(([match]) => JSON.parse(match) as PrintedResponse);

const post = async (path: string, body: object, headers: Readonly<Record<string, string>>): Promise<PrintedResponse["data"]> => {
  const response = await fetch(service.origin + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as PrintedResponse).data;
};

describe("the sharing guide", () => {
  test("redeems a code and acknowledges the revocation with the printed commands", async () => {
    const mark = "---- the next block ----";
    const output = await runAndRead("bash", ["-e", "-o", "pipefail", "-c", extractBlocks("sh").join(`\necho; echo '${mark}'\n`)]);
    const [agreed, redeemed, eventResponses, current, ended] = output.split(mark).map(parseResponses);
    expect(agreed?.[0]?.data.expires_in).toBe(60);
    expect(redeemed?.[0]?.data).toMatchObject({ status: "active", fields: { email: "sandbox@example.com", first_name: "Sandy" } });
    const share = redeemed?.[0]?.data.share_id as string;
    const events = eventResponses?.[1]?.data.events as readonly { type: string; share_id: string; data: unknown }[];
    expect(events.filter((event) => event.share_id === share).map(({ type, data }) => [type, data])).toEqual([
      ["share.created", null],
      ["consumer.updated.email", { email: "new@example.com" }],
    ]);
    expect(current?.[0]?.data).toMatchObject({ share_id: share, fields: { email: "new@example.com" } });
    const [revoked, refused, acknowledged] = ended ?? [];
    expect(revoked?.data.share).toMatchObject({
      status: "revoked",
      cease: { status: "open", cease_by: expect.stringMatching(/T23:59:59\.999Z$/) },
    });
    expect(refused?.error.code).toBe("share_inactive");
    expect(acknowledged?.data).toMatchObject({ on_time: true, share: { status: "ceased" } });
  });

  test("opens the sheet with the button, fills the form and adds the share ID", async () => {
    const sent: string[] = [];
    const page = only.replace("{cdn_url}", service.origin).replace("pc_test_...", service.world.acme.clients.sandbox);
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      if (request.method === "POST") sent.push(Buffer.concat(parts).toString());
      response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><html lang="en"><title>Quote</title>${page}`);
    });
    await new Promise<void>((done) => server.listen(0, "localhost", done));
    const browser = await launchBrowser();
    try {
      const visit = await openPage(browser);
      await visit.page.context().clock.install();
      await visit.page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
      const [sheet] = await Promise.all([visit.page.context().waitForEvent("page"), visit.page.click(shareButtonSelector)]);
      await waitUntilClickable(sheet);
      const isFilled = (): boolean => (document.querySelector<HTMLInputElement>("input[name=svc_share_id]")?.value ?? "") !== "";
      // The result returns as a message from the sheet or, on a busy machine, when the sheet redirects to the page. In both cases, this
      // form is filled in.
      await Promise.all([visit.page.waitForFunction(isFilled), sheet.getByRole("button", { name: "Share test details" }).click()]);
      expect(await visit.page.getByLabel("Email", { exact: true }).inputValue()).toBe("sandbox@example.com");
      await visit.page.getByRole("button", { name: "Get my quote" }).click();
      await visit.page.waitForURL("**/leads");
      expect(new URLSearchParams(sent[0]).get("svc_share_id")).toMatch(/^shr_/);
      await visit.close();
    } finally {
      await browser.close();
      server.closeAllConnections();
      server.close();
    }
  });
});

describe("in your language", () => {
  /** Creates a code like the one that the consent sheet returns. */
  const requestCode = async (verifier: string): Promise<string> => {
    const decision = {
      client_id: service.world.acme.clients.sandbox,
      origin: site,
      scope: ["email"],
      purpose: "solar quote",
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      consent: true,
    };
    return (await post("/v1/share/sandbox-consent", decision, { origin: site })).code as string;
  };

  /**
   * Each program reads CODE and VERIFIER, redeems the code twice, reads the share, and acknowledges the revocation that the test makes in
   * the meantime.
   */
  const programs: readonly (readonly [string, string, readonly string[], string, (of: string) => string])[] = [
    [
      "Node",
      "node",
      ["main.mjs"],
      "main.mjs",
      (example) => `${example}
const { CODE, VERIFIER, STOP } = process.env;
const shared = await redeem(CODE, VERIFIER);
console.log(shared.fields.email);
await redeem(CODE, VERIFIER).catch((error) => console.log(error.message));
console.log((await current(shared.share_id)).fields.email);
await fetch(STOP + shared.share_id);
console.log((await acknowledge(shared.share_id, "Privacy team")).on_time);
`,
    ],
    [
      "Python",
      "python3",
      ["main.py"],
      "main.py",
      (example) => `${example}
shared = redeem(os.environ["CODE"], os.environ["VERIFIER"])
print(shared["fields"]["email"])
try:
    redeem(os.environ["CODE"], os.environ["VERIFIER"])
except RuntimeError as error:
    print(error)
print(current(shared["share_id"])["fields"]["email"])
urllib.request.urlopen(os.environ["STOP"] + shared["share_id"]).read()
print(str(acknowledge(shared["share_id"], "Privacy team")["on_time"]).lower())
`,
    ],
    [
      "PHP",
      "php",
      ["-d", "display_errors=stderr", "-d", "error_reporting=-1", "main.php"],
      "main.php",
      (example) => `<?php
${example}
$shared = redeem(getenv('CODE'), getenv('VERIFIER'));
echo $shared['fields']['email'], "\\n";
try { redeem(getenv('CODE'), getenv('VERIFIER')); } catch (RuntimeException $error) { echo $error->getMessage(), "\\n"; }
echo current_values($shared['share_id'])['fields']['email'], "\\n";
file_get_contents(getenv('STOP') . $shared['share_id']);
echo json_encode(acknowledge($shared['share_id'], 'Privacy team')['on_time']), "\\n";
`,
    ],
    [
      "Go",
      "go",
      ["run", "main.go"],
      "main.go",
      (example) => `package main
${example.replace("import (", 'import (\n\t"fmt"')}
func must(answer object, err error) object {
	if err != nil {
		panic(err)
	}
	return answer
}
func main() {
	shared := must(redeem(os.Getenv("CODE"), os.Getenv("VERIFIER")))
	id := shared["share_id"].(string)
	fmt.Println(shared["fields"].(object)["email"])
	if _, err := redeem(os.Getenv("CODE"), os.Getenv("VERIFIER")); err != nil {
		fmt.Println(err)
	}
	fmt.Println(must(current(id))["fields"].(object)["email"])
	http.Get(os.Getenv("STOP") + id)
	fmt.Println(must(acknowledge(id, "Privacy team"))["on_time"])
}
`,
    ],
  ];

  test.each(programs)(
    "%s redeems once, reads current values and acknowledges the revocation",
    async (name, command, args, file, program) => {
      const source = new RegExp(`### ${name}\\n(?:(?!\\n### )[\\s\\S])*?\`\`\`[a-z]+\\n([\\s\\S]*?)\`\`\``).exec(
        text.split("## In your language")[1] ?? "",
      );
      writeFileSync(join(folder, file), program(source?.[1] as string));
      const stopper = createServer(async (request, response) => {
        await post(
          "/v1/sandbox/trigger",
          { type: "share.revoked", share_id: request.url?.slice(1) },
          { authorization: `Bearer ${buildEnv().KEY}` },
        );
        response.end();
      });
      await new Promise<void>((done) => stopper.listen(0, "127.0.0.1", done));
      const verifier = randomBytes(32).toString("base64url");
      const stop = `http://127.0.0.1:${(stopper.address() as AddressInfo).port}/`;
      if (command === "go") await runAndRead("go", ["vet", "main.go"]); // compiles the program before the code's 60 seconds start
      const output = await runAndRead(command, args, { CODE: await requestCode(verifier), VERIFIER: verifier, STOP: stop });
      stopper.closeAllConnections();
      stopper.close();
      expect(output.trim().split("\n")).toEqual(["sandbox@example.com", "code_used", "sandbox@example.com", "true"]);
    },
  );
});
