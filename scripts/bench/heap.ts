// Reads the heap size of the Worker's isolate from the runtime's debugger, because deployments limit this heap, not the memory of the
// process.
interface Target {
  readonly id: string;
  readonly webSocketDebuggerUrl: string;
}

export interface HeapWatch {
  /** Returns the largest heap size since the previous `peakMiB` call, in MiB. */
  readonly peakMiB: () => number;
  readonly end: () => void;
}

/** Samples the heap five times a second. Each size includes garbage that has not been collected yet. */
export const watchHeap = async (inspectorPort: number): Promise<HeapWatch> => {
  const targets = (await (await fetch(`http://127.0.0.1:${inspectorPort}/json`)).json()) as readonly Target[];
  const target = targets.find(({ id }) => id === "svc" || id.endsWith(":svc"));
  if (target === undefined) throw new Error(`bench: no isolate svc among ${targets.map(({ id }) => id).join(", ")}`);
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  let peak = 0;
  let messageId = 0;
  socket.onmessage = ({ data }) => {
    const { result } = JSON.parse(String(data)) as { result?: { usedSize?: number } };
    peak = Math.max(peak, (result?.usedSize ?? 0) / 1_048_576);
  };
  const asking = setInterval(() => {
    messageId += 1;
    socket.send(JSON.stringify({ id: messageId, method: "Runtime.getHeapUsage" }));
  }, 200);
  return {
    peakMiB: () => {
      const seen = peak;
      peak = 0;
      return seen;
    },
    end: () => {
      clearInterval(asking);
      socket.close();
    },
  };
};
