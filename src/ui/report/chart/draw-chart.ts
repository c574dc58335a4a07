import uPlot from "uplot"

/** Further metrics of a chart, and the axis of those with other units. */
export interface FurtherSeries {
  values: (number | null)[][]
  series(colour: (name: string) => string): uPlot.Series[]
  axes(axis: uPlot.Axis): uPlot.Axis[]
}

export interface ChartContent {
  /** Values of the buckets that have started. Null, which leaves a gap in the line, means no value. */
  values: readonly (number | null)[]
  /** Number of all buckets. */
  count: number
  /** Values of the comparison, aligned by index and drawn dashed. */
  earlier: readonly (number | null)[] | undefined
  /** Further metrics, see `further-series.ts`. */
  further?: FurtherSeries | undefined
  /** Form of the first metric. Default: bars for a few buckets, a line for more. */
  form?: "line" | "bars" | undefined
  /** Whether the last bucket is still in progress. */
  partial: boolean
  /** Whether each bucket has imported days. */
  imported: readonly boolean[]
  /** Notes by the index of their point. */
  notes: readonly { at: number; text: string }[]
  label(index: number): string
  text(value: number): string
  /** Called with the point under the pointer, or undefined when the pointer leaves. */
  onPoint(index: number | undefined): void
  /** Called with the first and last point of a dragged range, and with one point when it is clicked. */
  onRange(from: number, to: number): void
}

export interface ChartDrawing {
  /** Replaces the numbers without recreating the drawing, which would flicker. */
  update(content: ChartContent): void
  pointAt(index: number): void
  remove(): void
}

/** Up to this number of buckets, bars are easier to read than a line. */
const FEW = 24
/** Distance from which a moved pointer selects a range. */
const DRAG_PX = 8
const FONT = "12px 'Hanken Grotesk', system-ui, sans-serif"

/** Draws the chart into the element, and redraws it when the size or the theme changes. Colours come from the style sheet. */
export function drawChart(element: HTMLElement, first: ChartContent): ChartDrawing {
  let content = first
  let plot = make(element, () => content)
  const mark = () => void loadMarks(content, () => element.isConnected && plot.redraw())
  mark()
  const again = () => {
    plot.destroy()
    plot = make(element, () => content)
  }
  const resized = new ResizeObserver(() => {
    if (element.clientWidth !== plot.width) plot.setSize({ width: element.clientWidth, height: element.clientHeight })
  })
  resized.observe(element)
  const themed = new MutationObserver(again)
  themed.observe(document.documentElement, { attributeFilter: ["data-theme"] })
  const media = [matchMedia("(prefers-color-scheme: dark)"), matchMedia("print")]
  for (const one of media) one.addEventListener("change", again)
  return {
    update(next) {
      const isSameKind = next.count === content.count
      content = next
      mark()
      if (isSameKind) plot.setData(dataOf(content))
      else again()
    },
    pointAt: (index) => plot.setCursor({ left: plot.valToPos(index, "x"), top: 0 }),
    remove() {
      resized.disconnect()
      themed.disconnect()
      for (const one of media) one.removeEventListener("change", again)
      plot.destroy()
    },
  }
}

/** What draws notes and imported days, loaded when a chart has some. */
let marks: Pick<typeof import("./chart-parts.ts"), "drawImported" | "drawNotes"> | undefined

async function loadMarks({ notes, imported }: ChartContent, draw: () => void): Promise<void> {
  if (marks || (notes.length === 0 && !imported.includes(true))) return
  // Without the script, the chart is shown without marks.
  marks = await import("./chart-parts.ts").catch(() => undefined)
  draw()
}

const isFew = ({ count, form }: ChartContent): boolean => (form ? form === "bars" : count <= FEW)
const isWhole = ({ values }: ChartContent): boolean => values.every((value) => Number.isInteger(value ?? 0))

/**
 * Returns the series of the plot: indexes, complete points, the running point with the line that leads to it (none in a bar chart), and
 * the comparison.
 */
function dataOf(content: ChartContent): uPlot.AlignedData {
  const { values, count, earlier, partial, further } = content
  const last = values.length - 1
  const joins = isFew(content) ? last : last - 1
  const isRunning = partial && values[last] !== null
  const places = Array.from({ length: count }, (_, index) => index)
  return [
    places,
    places.map((index) => (partial && index === last ? null : values[index])),
    places.map((index) => (isRunning && index >= joins ? values[index] : null)),
    places.map((index) => earlier?.[index]),
    ...(further?.values ?? []),
  ] as uPlot.AlignedData
}

function make(element: HTMLElement, content: () => ChartContent): uPlot {
  const style = getComputedStyle(element)
  const colour = (name: string): string => style.getPropertyValue(name).trim()
  const few = isFew(content())
  const { count, further } = content()
  const accent = colour("--series-1")
  const faint = `color-mix(in srgb, ${accent} 6%, transparent)`
  const axis = { stroke: colour("--ink-2"), font: FONT, ticks: { show: false } }
  const line = { stroke: accent, width: 1.75, points: dots(accent) }
  // A single bar would fill the chart, so its width is limited as if the row were full.
  const widest = Math.min(48, (0.6 * element.clientWidth) / count)
  const bars = few && uPlot.paths.bars ? uPlot.paths.bars({ size: [0.6, widest] }) : undefined
  const bar = bars && { ...line, paths: bars, points: { show: false } }
  return new uPlot(
    {
      width: element.clientWidth,
      height: element.clientHeight,
      legend: { show: false },
      padding: [8, 8, 0, 0],
      scales: {
        x: { time: false, ...(few && { range: [-0.5, count - 0.5] as [number, number] }) },
        y: { range: (_, __, high) => [0, niceTop(high, isWhole(content()))] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 28,
          splits: () => splits(count, element.clientWidth),
          values: (_, at) => at.map((index) => content().label(index)),
        },
        {
          ...axis,
          grid: { stroke: colour("--line"), width: 1 },
          size: 52,
          splits: (_, __, ___, top) => [0, 0.25, 0.5, 0.75, 1].map((part) => part * top),
          values: (_, at) => at.map((value) => content().text(value)),
        },
        ...(further?.axes(axis) ?? []),
      ],
      series: [
        {},
        bar ? { ...bar, width: 0, fill: accent } : { ...line, fill: faint },
        bar ? { ...bar, dash: [4, 4], fill: faint } : { ...line, dash: [4, 4] },
        { stroke: colour("--comparison"), width: 1.25, dash: [4, 4], points: dots(colour("--comparison")) },
        ...(further?.series(colour) ?? []),
      ],
      cursor: {
        y: false,
        // The library takes a click beside a point for a drag, because the crosshair stands on the point.
        drag: { x: true, y: false, setScale: false, dist: DRAG_PX, click: () => {} },
        points: { size: 7, fill: accent },
        // The line stands on a point, so that it shows which one a click opens.
        move: (plot, left, top) => [left < 0 ? left : plot.valToPos(plot.posToIdx(left), "x"), top],
      },
      hooks: {
        ready: [
          (plot) => {
            let from = 0
            plot.over.onmousedown = ({ clientX }) => {
              from = clientX
            }
            plot.over.onclick = (event) => {
              // A finger reads the values of a point; the menu next to them opens it.
              if ((event as PointerEvent).pointerType === "touch" || Math.abs(event.clientX - from) >= DRAG_PX) return
              // The crosshair may be a frame behind the pointer.
              const at = plot.posToIdx(event.offsetX)
              content().onRange(at, at)
            }
          },
        ],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select
            if (width === 0) return
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            content().onRange(plot.posToIdx(left), plot.posToIdx(left + width))
          },
        ],
        setCursor: [(plot) => content().onPoint(plot.cursor.idx ?? undefined)],
        drawClear: [(plot) => marks?.drawImported(plot, content().imported, colour("--bar"))],
        draw: [(plot) => marks?.drawNotes(plot, content().notes, FONT, colour("--ink-2"))],
      },
    },
    dataOf(content()),
    element,
  )
}

/** Marks points between two gaps, which would be invisible because no line touches them. */
const dots = (fill: string): uPlot.Series.Points => ({
  show: false,
  size: 5,
  fill,
  filter: ({ data }, series) => {
    const values = data[series]!
    return [...values.keys()].filter((at) => values[at] != null && values[at - 1] == null && values[at + 1] == null)
  },
})

/** Returns an upper bound slightly above the highest value, so that its quarters are round, and whole for whole numbers. */
function niceTop(high: number | null, isWhole: boolean): number {
  if (!high || high <= 0) return 4
  const power = 10 ** Math.floor(Math.log10(high))
  const isSuitable = (step: number) => step * power >= high && (!isWhole || (step * power) % 4 === 0)
  return power * ([1, 1.2, 1.6, 2, 2.4, 3.2, 4, 5, 6, 8, 10].find(isSuitable) ?? 12)
}

/** Returns the positions of four to seven labels. */
function splits(count: number, width: number): number[] {
  const wanted = Math.min(count, width < 500 ? 4 : 7)
  const step = Math.max(1, Math.ceil(count / wanted))
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step)
}
