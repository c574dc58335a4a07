/** Marks on a chart: imported days below the line, and notes over it. */
import type uPlot from "uplot"
import type { ChartContent } from "./draw-chart.ts"

/** Maximum length of a note's text next to its line. */
const NOTE_CHARACTERS = 22

/** Fills the background of buckets with imported days, below the grid and the line. */
export function drawImported({ ctx, bbox, valToPos }: uPlot, imported: readonly boolean[], fill: string): void {
  const { left, width } = bbox
  const edge = (at: number) => Math.min(left + width, Math.max(left, Math.round(valToPos(at - 0.5, "x", true))))
  ctx.save()
  ctx.fillStyle = fill
  ctx.globalAlpha = 0.4
  for (const [index, isImported] of imported.entries())
    if (isImported) ctx.fillRect(edge(index), bbox.top, edge(index + 1) - edge(index), bbox.height)
  ctx.restore()
}

/** Draws a dotted line at each note, with the start of its text if it does not overlap the previous one. */
export function drawNotes(plot: uPlot, notes: ChartContent["notes"], font: string, ink: string): void {
  const { ctx, bbox } = plot
  const scale = devicePixelRatio
  ctx.save()
  ctx.strokeStyle = ink
  ctx.fillStyle = ink
  ctx.font = font.replace("12px", `${12 * scale}px`)
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
