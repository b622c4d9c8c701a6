// Checks that the system diagram matches what `npm run diagram` draws from its text source, and that the README shows the diagram.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { diagramFile, diagramSource, drawDiagram } from "../../scripts/diagram.ts";
import { readRepositoryFile } from "./repository.ts";

const source = readFileSync(diagramSource, "utf8");

test("system.svg is drawn from system.txt", () => {
  expect(readFileSync(diagramFile, "utf8"), "npm run diagram").toBe(drawDiagram(source));
  expect(readRepositoryFile("README.md")).toContain(`(${diagramFile})`);
});

test("a changed label changes the picture, and an unknown element is refused", () => {
  expect(drawDiagram(source.replace('"AuditLog"', '"Another name"'))).toContain("Another name");
  expect(() => drawDiagram("canvas 10 10\ncircle 1 1 1")).toThrow("circle is not an element");
});
