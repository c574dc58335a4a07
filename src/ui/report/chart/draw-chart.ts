import uPlot from "uplot"

export interface ChartContent {
  /** Of the buckets that have begun; null where there is no value: the line has a gap there. */
  values: readonly (number | null)[]
  /** Of all buckets. */
  count: number
  /** Aligned by index; drawn dashed. */
  earlier: readonly (number | null)[] | undefined
  /** The last bucket still runs. */
  partial: boolean
  /** Notes at points, each with its text. */
  notes: readonly { at: number; text: string }[]
  label(index: number): string
  text(value: number): string
  /** The point under the pointer; undefined when it left. */
  onPoint(index: number | undefined): void
}

export interface ChartDrawing {
  /** Other numbers in the same drawing: nothing flickers. */
  update(content: ChartContent): void
  pointAt(index: number): void
  remove(): void
}

/** From so few buckets on bars read better than a line. */
const FEW = 24
/** A note's text beside its line. */
const NOTE_CHARACTERS = 22
const FONT = "12px 'Hanken Grotesk', system-ui, sans-serif"

/** Draws into the element, and again whenever its size or the theme changes. Colours are those of the style sheet. */
export function drawChart(element: HTMLElement, first: ChartContent): ChartDrawing {
  let content = first
  let plot = make(element, () => content)
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
  const dark = matchMedia("(prefers-color-scheme: dark)")
  dark.addEventListener("change", again)
  return {
    update(next) {
      const isSameKind = next.count === content.count
      content = next
      if (isSameKind) plot.setData(dataOf(content))
      else again()
    },
    pointAt: (index) => plot.setCursor({ left: plot.valToPos(index, "x"), top: 0 }),
    remove() {
      resized.disconnect()
      themed.disconnect()
      dark.removeEventListener("change", again)
      plot.destroy()
    },
  }
}

const isFew = ({ count }: ChartContent): boolean => count <= FEW
const isWhole = ({ values }: ChartContent): boolean => values.every((value) => Number.isInteger(value ?? 0))

/** Points, those that are sure, the running one with the step to it, and the earlier ones. A running bar is drawn by itself. */
function dataOf(content: ChartContent): uPlot.AlignedData {
  const { values, count, earlier, partial } = content
  const last = values.length - 1
  const joins = isFew(content) ? last : last - 1
  const isRunning = partial && values[last] !== null
  const places = Array.from({ length: count }, (_, index) => index)
  return [
    places,
    places.map((index) => (partial && index === last ? null : values[index])),
    places.map((index) => (isRunning && index >= joins ? values[index] : null)),
    places.map((index) => earlier?.[index]),
  ] as uPlot.AlignedData
}

function make(element: HTMLElement, content: () => ChartContent): uPlot {
  const style = getComputedStyle(element)
  const colour = (name: string): string => style.getPropertyValue(name).trim()
  const few = isFew(content())
  const { count } = content()
  const accent = colour("--series-1")
  const faint = `color-mix(in srgb, ${accent} 6%, transparent)`
  const axis = { stroke: colour("--ink-2"), font: FONT, ticks: { show: false } }
  const line = { stroke: accent, width: 1.75, points: dots(accent) }
  // A bar that is alone would be as wide as it may be: the others of its row are thought beside it.
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
      ],
      series: [
        {},
        bar ? { ...bar, width: 0, fill: accent } : { ...line, fill: faint },
        bar ? { ...bar, dash: [4, 4], fill: faint } : { ...line, dash: [4, 4] },
        { stroke: colour("--comparison"), width: 1.25, dash: [4, 4], points: dots(colour("--comparison")) },
      ],
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7, fill: accent } },
      hooks: {
        setCursor: [(plot) => content().onPoint(plot.cursor.idx ?? undefined)],
        draw: [(plot) => drawNotes(plot, content().notes, colour("--ink-2"))],
      },
    },
    dataOf(content()),
    element,
  )
}

/** A point between two gaps has no line to be seen by. */
const dots = (fill: string): uPlot.Series.Points => ({
  show: false,
  size: 5,
  fill,
  filter: ({ data }, series) => {
    const values = data[series]!
    return [...values.keys()].filter((at) => values[at] != null && values[at - 1] == null && values[at + 1] == null)
  },
})

/** A dotted line at each note, with the beginning of its text where it fits beside the one before. */
function drawNotes(plot: uPlot, notes: ChartContent["notes"], ink: string): void {
  const { ctx, bbox } = plot
  const scale = devicePixelRatio
  ctx.save()
  ctx.strokeStyle = ink
  ctx.fillStyle = ink
  ctx.font = FONT.replace("12px", `${12 * scale}px`)
  ctx.textBaseline = "top"
  ctx.textAlign = "left"
  ctx.setLineDash([2 * scale, 3 * scale])
  ctx.lineWidth = scale
  let freeFrom = bbox.left
  for (const { at, text } of notes) {
    const x = Math.round(plot.valToPos(at, "x", true))
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    const shown = text.length > NOTE_CHARACTERS ? `${text.slice(0, NOTE_CHARACTERS - 1)}…` : text
    const width = ctx.measureText(shown).width
    const isAtEnd = x + width + 8 * scale > bbox.left + bbox.width
    const left = isAtEnd ? x - width - 4 * scale : x + 4 * scale
    if (left < freeFrom) continue
    ctx.fillText(shown, left, bbox.top + 2 * scale)
    freeFrom = left + width + 8 * scale
  }
  ctx.restore()
}

/** A little above the highest value, so that quarters of it are round; of whole figures they are whole, too. */
function niceTop(high: number | null, isWhole: boolean): number {
  if (!high || high <= 0) return 4
  const power = 10 ** Math.floor(Math.log10(high))
  const fits = (step: number) => step * power >= high && (!isWhole || (step * power) % 4 === 0)
  return power * ([1, 1.2, 1.6, 2, 2.4, 3.2, 4, 5, 6, 8, 10].find(fits) ?? 12)
}

/** Four to seven labels at whole points. */
function splits(count: number, width: number): number[] {
  const wanted = Math.min(count, width < 500 ? 4 : 7)
  const step = Math.max(1, Math.ceil(count / wanted))
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step)
}
