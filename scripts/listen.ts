// Starts the HTTP servers that simulate other machines.
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts the server on a free port of this machine. Returns its host with the port. */
export const listenLocally = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};
