import { saveFile } from "../../save-file.ts"

const MARGIN = 16
const TITLE = 32

/** Saves the chart on the page as a picture with its title. False when no chart is shown. */
export function savePicture(title: string, fileName: string): boolean {
  const chart = document.querySelector<HTMLCanvasElement>(".chart-canvas canvas")
  if (!chart || chart.width === 0) return false
  const scale = devicePixelRatio
  const picture = document.createElement("canvas")
  picture.width = chart.width + 2 * MARGIN * scale
  picture.height = chart.height + (2 * MARGIN + TITLE) * scale
  const ctx = picture.getContext("2d")
  if (!ctx) return false
  const style = getComputedStyle(document.documentElement)
  ctx.fillStyle = style.getPropertyValue("--surface").trim()
  ctx.fillRect(0, 0, picture.width, picture.height)
  ctx.fillStyle = style.getPropertyValue("--ink").trim()
  ctx.font = `600 ${15 * scale}px ${getComputedStyle(document.body).fontFamily}`
  ctx.textBaseline = "top"
  ctx.fillText(title, MARGIN * scale, MARGIN * scale, picture.width - 2 * MARGIN * scale)
  ctx.drawImage(chart, MARGIN * scale, (MARGIN + TITLE) * scale)
  picture.toBlob((blob) => blob && saveFile(fileName, blob), "image/png")
  return true
}
