interface Placed {
  type: string
  x: number
  y: number
  w: number
  h: number
}

/** Rows that a sketch shows; longer dashboards are cut off. */
const ROWS = 16

/** Small drawing of where the widgets of a dashboard are. Decoration: the same is said in words next to it. */
export const LayoutSketch = ({ widgets }: { widgets: readonly Placed[] }) => (
  <svg class="layout-sketch" viewBox={`0 0 120 ${ROWS * 5}`} preserveAspectRatio="xMidYMin slice" aria-hidden="true">
    {widgets.map(({ type, x, y, w, h }, index) => (
      // Widgets of a sketch are known by their place.
      <g key={index} transform={`translate(${x * 10 + 1} ${y * 5 + 1})`}>
        <rect width={w * 10 - 2} height={h * 5 - 2} rx="1" />
        {type === "timeseries" && <path d={courseOf(w * 10 - 6, h * 5 - 6)} />}
        {type !== "timeseries" && h > 2 && <path d={linesOf(w * 10 - 6, h * 5 - 6)} />}
      </g>
    ))}
  </svg>
)

const courseOf = (width: number, height: number): string =>
  `M2 ${height}l${width * 0.25} ${-height * 0.5} ${width * 0.25} ${height * 0.2} ${width * 0.25} ${-height * 0.55} ${width * 0.25} ${height * 0.3}`

const linesOf = (width: number, height: number): string =>
  Array.from({ length: Math.floor(height / 4) }, (_, row) => `M2 ${row * 4 + 3}h${width * (0.9 - row * 0.13)}`).join("")
