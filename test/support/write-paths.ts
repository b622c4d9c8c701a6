// Parses the tables in docs/internals/write-paths.md that list what writes data and which limits apply.

/** Returns the cells of each row of the table in this section, without its header and separator. */
const parseTable = (page: string, heading: string): readonly (readonly string[])[] => {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const lines = section.split("\n## ")[0]?.split("\n") ?? [];
  const rows = lines.filter((line) => line.startsWith("| ")).slice(1);
  return rows.map((row) => row.slice(2, -2).split(" | "));
};

const parseNames = (cell = ""): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string);

export interface WritePath {
  /**
   * The method and path of every route that can write. This includes GET routes that store something. A route under /portal/test is listed
   * only if there is no such route under /portal.
   */
  readonly routes: readonly string[];
  /** The names of the limits. The first one is checked for every call, before anything is stored. */
  readonly limits: readonly string[];
}

/** Returns the routes, tools and jobs that store something, from the text of docs/internals/write-paths.md. */
export const parseWritePaths = (page: string) => ({
  writePaths: parseTable(page, "Routes").map(
    ([, routes, limits]): WritePath => ({ routes: parseNames(routes), limits: parseNames(limits) }),
  ),
  toolWrites: parseTable(page, "What tools store").map(([, tools, limits]) => ({ tools: parseNames(tools), limits: parseNames(limits) })),
  jobs: parseTable(page, "What scheduled jobs store").flatMap(([, jobs]) => parseNames(jobs)),
});
