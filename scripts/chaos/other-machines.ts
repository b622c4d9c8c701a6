// The machines that the service calls during `npm run chaos`: an email provider, two DNS resolvers, the payment provider, a website and the
// webhook receivers. They always work; faulty-worker.ts makes the calls to them fail.
import { createServer, type IncomingMessage } from "node:http";
import { listenLocally } from "../listen.ts";

export interface ReceivedEvent {
  readonly host: string;
  readonly id: string;
  readonly type: string;
  readonly seq: number;
}

export interface SentEmail {
  readonly to: string;
  readonly text: string;
}

export interface OtherMachines {
  readonly origin: string;
  readonly events: readonly ReceivedEvent[];
  readonly emails: readonly SentEmail[];
  readonly stop: () => void;
}

const publicAddress = "93.184.215.14";

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
};

const page = `<!doctype html><title>Quote</title><form id="quote"><label>Email <input id="email" type="email" name="email"></label>
<label>Ring us <input id="ring" name="q7"></label>
<label id="disclosure"><input type="checkbox" id="agree"> I agree that Acme Solar LLC may call me.</label><button>Send</button></form>`;

/** Starts a server that responds for all machines. The first segment of a path is the host. */
export const startOtherMachines = async (): Promise<OtherMachines> => {
  const events: ReceivedEvent[] = [];
  const emails: SentEmail[] = [];
  let checkouts = 0;

  const answerDnsQuery = (query: URLSearchParams): object => {
    const isIpv4 = query.get("type") === "A";
    return { Status: 0, ...(isIpv4 && { Answer: [{ name: query.get("name"), type: 1, TTL: 60, data: publicAddress }] }) };
  };

  const respond = (host: string, query: URLSearchParams, body: string): object | string => {
    if (host.startsWith("dns-")) return answerDnsQuery(query);
    if (host === "mail.example.com") {
      emails.push(JSON.parse(body) as SentEmail);
      return {};
    }
    if (host === "api.stripe.com") {
      checkouts += 1;
      return { id: `cs_test_${checkouts}`, object: "checkout.session", url: `https://checkout.stripe.com/c/pay/${checkouts}` };
    }
    if (!host.startsWith("hooks")) return page;
    const { id, type, seq } = JSON.parse(body) as ReceivedEvent;
    events.push({ host, id, type, seq });
    return {};
  };

  const server = createServer((request, response) => {
    void readBody(request).then(
      (body) => {
        const url = new URL(request.url ?? "/", "http://runner");
        const answered = respond(url.pathname.split("/")[1] ?? "", url.searchParams, body);
        const isPage = typeof answered === "string";
        response.writeHead(200, { "content-type": isPage ? "text/html; charset=utf-8" : "application/json" });
        response.end(isPage ? answered : JSON.stringify(answered));
      },
      () => response.destroy(), // the request could not be read, because the caller ended the connection
    );
  });
  return {
    origin: `http://${await listenLocally(server)}`,
    events,
    emails,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
