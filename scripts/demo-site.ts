// A small business site on another origin, so that the main job can be tried in a browser with one click.
import { createServer, type Server } from "node:http";

export interface DemoSite {
  readonly port: number;
  readonly cdnOrigin: string;
  readonly clientId: string;
}

const page = (
  site: DemoSite,
): string => `<!doctype html><title>Acme Solar</title><form method="post" action="/thanks"><input name="email" type="email" required><label><input type="checkbox" name="agree" id="agree"> I agree</label><p id="disclosure">By clicking Send I agree that Acme Solar LLC may call or e-mail me about solar quotes.</p><button>Send</button></form>
<script async src="${site.cdnOrigin}/v1/svc.js" data-client-id="${site.clientId}" data-mode="consent" data-purpose="solar quote follow-up" data-entities="Acme Solar LLC|Bright Homes Inc" data-checkbox-selector="#agree" data-disclosure-selector="#disclosure"></script>`;

export const startDemoSite = (site: DemoSite): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((_request, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8").end(page(site));
    });
    server.once("error", reject);
    server.listen(site.port, "127.0.0.1", () => resolve(server));
  });
