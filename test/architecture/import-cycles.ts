// Finds import cycles: the strongly connected components of the import graph (Tarjan's algorithm).

/** Returns each cycle as a sorted list of its files. The list of cycles is sorted too. A file that imports itself is a cycle. */
export const findImportCycles = (imports: readonly { readonly file: string; readonly target: string }[]): string[][] => {
  const targets = new Map<string, string[]>();
  for (const { file, target } of imports) targets.set(file, [...(targets.get(file) ?? []), target]);
  const index = new Map<string, number>();
  const lowLink = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];

  const visit = (file: string): void => {
    index.set(file, index.size);
    lowLink.set(file, index.get(file) as number);
    stack.push(file);
    for (const target of targets.get(file) ?? []) {
      if (!index.has(target)) visit(target);
      if (stack.includes(target)) lowLink.set(file, Math.min(lowLink.get(file) as number, lowLink.get(target) as number));
    }
    if (lowLink.get(file) !== index.get(file)) return;
    const component = stack.splice(stack.indexOf(file));
    if (component.length > 1 || targets.get(file)?.includes(file)) cycles.push(component.sort());
  };

  for (const file of targets.keys()) if (!index.has(file)) visit(file);
  return cycles.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));
};
