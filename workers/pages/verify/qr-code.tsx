// The address of a page as a QR code, for paper: one path, so that no style stands in the page.
import encodeQR from "qr";
import type { FC } from "hono/jsx";

const quietZoneModules = 4; // modules of white around the code, ISO/IEC 18004

/** One closed run of dark modules after another, row by row. */
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
  // Medium correction: 15 % of a printed code may be soiled.
  const rows = encodeQR(text, "raw", { ecc: "medium", border: quietZoneModules });
  return (
    <svg class="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <path d={buildDarkPath(rows)} />
    </svg>
  );
};
