// Bindings that report every write: the table that a statement writes to, or the prefix of the KV key.

const writtenTable = /\b(?:insert(?: or \w+)? into|update|delete from)\s+"?(\w+)/i;

const observeDatabase = <Binding extends D1Database | D1DatabaseSession>(binding: Binding, report: (table: string) => void): Binding =>
  new Proxy(binding, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const table = name === "prepare" ? writtenTable.exec(String(args[0]))?.[1] : undefined;
        if (table !== undefined) report(table);
        const result = value.apply(target, args) as unknown;
        return name === "withSession" ? observeDatabase(result as D1DatabaseSession, report) : result;
      };
    },
  });

/** Reports a statement when it is prepared, because the service runs every statement that it prepares. */
export const observeWrites = <Bindings extends Readonly<Record<string, D1Database>>>(
  bindings: Bindings,
  report: (table: string) => void,
): Bindings => Object.fromEntries(Object.entries(bindings).map(([name, binding]) => [name, observeDatabase(binding, report)])) as Bindings;

export const observeKv = (kv: KVNamespace, report: (prefix: string) => void): KVNamespace =>
  new Proxy(kv, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (name === "put" || name === "delete") report(`KV ${String(args[0]).split(":")[0]}`);
        return value.apply(target, args);
      };
    },
  });
