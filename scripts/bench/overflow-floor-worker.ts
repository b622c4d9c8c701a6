// The baseline of `npm run bench -- --only overflow`: GET /<n> sends one short query, as if to authenticate the request, and then the same
// query to n databases, at most six at a time.

const query = (db: D1Database): Promise<unknown> => db.prepare("SELECT 1").raw();

export default {
  async fetch(request: Request, env: Readonly<Record<string, unknown>>): Promise<Response> {
    const count = Number(new URL(request.url).pathname.slice(1));
    const names = Object.keys(env).filter((name) => /^DB(_|$)/.test(name));
    const databases = names.sort().map((name) => env[name] as D1Database);
    await query(databases[0] as D1Database);
    for (let at = 0; at < count; at += 6) await Promise.all(databases.slice(at, Math.min(count, at + 6)).map(query));
    return new Response("ok");
  },
};
