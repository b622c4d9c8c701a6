// Tests how `findBlockingDirectives` decides whether a page's Content-Security-Policy blocks the service's script or its requests.
import { expect, test } from "vitest";
import { findBlockingDirectives, type BlockingDirective, type PageScript } from "../../../core/integration/content-security-policy.ts";

const script: PageScript = {
  pageUrl: "https://www.example.com/quote",
  scriptUrls: ["https://cdn.svc.example/v1/svc.js"],
  apiUrls: ["https://cdn.svc.example/v1/consent"],
  nonce: null,
};
const both: readonly BlockingDirective[] = ["script-src", "connect-src"];

test.each<[string, readonly string[], readonly BlockingDirective[]]>([
  ["no policy", [], []],
  ["an empty policy", [""], []],
  ["a policy about other resources", ["img-src 'none'; form-action 'self'"], []],
  ["nothing by default", ["default-src 'none'"], both],
  ["itself by default", ["default-src 'self'"], both],
  ["everything by default", ["default-src *"], []],
  ["https by default", ["default-src https:"], []],
  ["our host", ["script-src https://cdn.svc.example; connect-src https://cdn.svc.example"], []],
  ["our host without a scheme", ["script-src cdn.svc.example; connect-src cdn.svc.example"], []],
  ["our host over http, which also allows https", ["script-src http://cdn.svc.example; connect-src http://cdn.svc.example"], []],
  ["our host in capitals", ["SCRIPT-SRC HTTPS://CDN.SVC.EXAMPLE; Connect-Src 'SELF' CDN.svc.example"], []],
  ["hosts below ours", ["script-src *.cdn.svc.example; connect-src *.svc.example"], ["script-src"]],
  ["another host", ["script-src https://cdn.example; connect-src https://svc.example"], both],
  ["a host that ends like ours", ["script-src https://vc.example; connect-src *.vc.example"], both],
  ["another port", ["script-src https://cdn.svc.example:8443; connect-src https://cdn.svc.example:*"], ["script-src"]],
  ["exactly our URLs", ["script-src https://cdn.svc.example/v1/svc.js; connect-src https://cdn.svc.example/v1/"], []],
  ["a folder without its slash", ["script-src https://cdn.svc.example/v1; connect-src https://cdn.svc.example/v1"], both],
  ["our host for scripts, and connections only by default", ["default-src 'self'; script-src https://cdn.svc.example"], ["connect-src"]],
  ["script elements apart from scripts", ["script-src 'self'; script-src-elem https://cdn.svc.example"], []],
  [
    "two directives with the same name, of which the first counts",
    ["script-src 'self'; script-src https://cdn.svc.example"],
    ["script-src"],
  ],
  ["two policies, one of which blocks the script", ["script-src *", "script-src 'self'"], ["script-src"]],
  ["two policies in one header", ["script-src *, connect-src 'self'"], ["connect-src"]],
  ["a sandbox", ["sandbox allow-forms"], ["sandbox"]],
  ["a sandbox with scripts", ["sandbox allow-forms allow-scripts"], []],
  ["strict-dynamic, which ignores hosts", ["script-src 'strict-dynamic' 'nonce-abc' https://cdn.svc.example"], ["script-src"]],
  ["values that are not sources", ["script-src cdn.svc.example?x 'unsafe-inline' data:; connect-src"], both],
])("a page with %s", (_what, policies, blocked) => {
  expect(findBlockingDirectives(policies, script)).toEqual(blocked);
});

test("a script tag is allowed only with the nonce of the policy", () => {
  const policy = ["script-src 'nonce-abc' 'strict-dynamic'"];
  expect(findBlockingDirectives(policy, { ...script, nonce: "abc" })).toEqual([]);
  expect(findBlockingDirectives(policy, { ...script, nonce: "ABC" })).toEqual(["script-src"]);
  expect(findBlockingDirectives(["script-src 'nonce-'"], { ...script, nonce: "" })).toEqual(["script-src"]);
});

test("every script and API URL must be allowed, including its port", () => {
  const local = {
    ...script,
    pageUrl: "http://localhost:3000/",
    scriptUrls: ["http://localhost:8787/v1/svc.js"],
    apiUrls: ["http://localhost:8787/v1/consent"],
  };
  expect(findBlockingDirectives(["default-src 'self'"], local)).toEqual(both);
  expect(findBlockingDirectives(["default-src http://localhost:8787"], local)).toEqual([]);
  expect(findBlockingDirectives(["default-src localhost:*"], local)).toEqual([]);
  const two = { ...script, scriptUrls: [...script.scriptUrls, "https://cdn.svc.example/v1/svc-share.js"] };
  expect(findBlockingDirectives(["script-src https://cdn.svc.example/v1/svc.js"], two)).toEqual(["script-src"]);
});
