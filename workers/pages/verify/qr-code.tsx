// Renders a page's URL as a QR code for printing. It is a single SVG path, because the Content Security Policy does not allow inline
// styles.
import encodeQR from "qr";
import type { FC } from "hono/jsx";

const quietZoneModules = 4; // ISO/IEC 18004 requires this white margin around the code

/** Draws each horizontal run of dark modules as one rectangle, row by row. */
const buildDarkPath = (rows: readonly (readonly boolean[])[]): string =>
  rows
    .map((row, y) => {
      let path = "";
      for (let x = 0; x < row.length; x += 1) {
        if (!row[x]) continue;
        const start = x;
        while (row[x + 1]) x += 1;
        path += `M${start} ${y}h${x - start + 1}v1H${start}z`;
      }
      return path;
    })
    .join("");

export const QrCode: FC<{ text: string; label: string }> = ({ text, label }) => {
  // The medium level of error correction keeps the code readable even if 15% of it is damaged.
  const rows = encodeQR(text, "raw", { ecc: "medium", border: quietZoneModules });
  return (
    <svg class="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <path d={buildDarkPath(rows)} />
    </svg>
  );
};
