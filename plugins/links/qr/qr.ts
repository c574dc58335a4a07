import { AppError, ArgumentReader, type Fault, fault } from "#plugin"
import { linkError } from "../errors.ts"
import { type Colour, twoColourPng } from "./png.ts"

/** How a code is to look. */
interface QrWish {
  format: "svg" | "png"
  /** Of the whole picture, in dots. */
  size: number
  ecc: "L" | "M" | "Q" | "H"
  /** In modules of the code. */
  margin: number
  fg: Colour
  bg: Colour
  /** A square in the middle stays free for one. */
  logo: boolean
}

const LEAST_CONTRAST = 4
const NAMES = ["format", "size", "ecc", "margin", "fg", "bg", "logo"]

/** Throws `invalid_query` with all that is wrong, or `low_contrast`. */
export function readQr(query: Record<string, unknown>): QrWish {
  const reader = new ArgumentReader(query, NAMES)
  const logo = reader.choice("logo", ["true", "false"]) === "true"
  const wish = {
    format: reader.choice("format", ["svg", "png"]) ?? "svg",
    size: reader.integer("size", { min: 64, max: 2_048 }) ?? 512,
    // What the logo covers must be made up for.
    ecc: reader.choice("ecc", ["L", "M", "Q", "H"]) ?? (logo ? "H" : "M"),
    margin: reader.integer("margin", { min: 0, max: 16 }) ?? 4,
    fg: colour(reader, "fg", [0, 0, 0]),
    bg: colour(reader, "bg", [255, 255, 255]),
    logo,
  } as const
  if (logo && wish.ecc !== "H") reader.refuse(fault("/ecc", "unsupported_combination", "must be H with a logo"))
  refuse(reader.faults())
  const [light, dark] = [luminance(wish.bg), luminance(wish.fg)]
  if ((light + 0.05) / (dark + 0.05) < LEAST_CONTRAST)
    throw linkError("low_contrast", "Cameras can't read these colours. Use a contrast of at least 4:1.")
  return wish
}

function refuse(errors: readonly Fault[]): void {
  if (errors.length > 0) throw new AppError("invalid_query", "Some parameters are not valid.", { errors: errors.slice(0, 20) })
}

function colour(reader: ArgumentReader, name: string, usual: Colour): Colour {
  const text = reader.text(name, { min: 1, max: 7 })
  if (text === undefined) return usual
  const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text) ?? []
  if (digits === undefined) {
    reader.refuse(fault(`/${name}`, "invalid_choice", "must be a colour of six or three hex digits"))
    return usual
  }
  const hex = digits.length === 3 ? digits.replace(/./g, "$&$&") : digits
  return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Colour // three of them
}

/** Of WCAG 2. */
function luminance(of: Colour): number {
  const [red, green, blue] = of.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

/** The picture of an address. Throws `invalid_query` for a size in which it cannot be drawn. */
export async function qrPicture(text: string, wish: QrWish): Promise<{ type: string; body: string | Uint8Array<ArrayBuffer> }> {
  // Only now: few requests need it.
  const { encode } = await import("uqr")
  const { data, size: modules } = encode(text, { ecc: wish.ecc, border: 0, boostEcc: false })
  const isDark = (x: number, y: number): boolean => (data[y]?.[x] ?? false) && !(wish.logo && isInMiddle(x, y, modules))
  const whole = modules + 2 * wish.margin
  if (wish.format === "svg") return { type: "image/svg+xml", body: svg(wish, { modules, whole, isDark }) }
  const scale = Math.floor(wish.size / whole)
  if (scale < 1) refuse([fault("/size", "out_of_range", `must be at least ${whole} for this code`)])
  const start = Math.floor((wish.size - scale * modules) / 2)
  const moduleAt = (dot: number) => Math.floor((dot - start) / scale)
  return { type: "image/png", body: twoColourPng(wish.size, { back: wish.bg, front: wish.fg }, (x, y) => isDark(moduleAt(x), moduleAt(y))) }
}

/** A fifth of the width: within what the highest correction makes up for. */
function isInMiddle(x: number, y: number, modules: number): boolean {
  const half = modules / 10
  return Math.abs(x + 0.5 - modules / 2) < half && Math.abs(y + 0.5 - modules / 2) < half
}

const hexOf = (of: Colour): string => `#${Uint8Array.from(of).toHex()}`

function svg(wish: QrWish, { modules, whole, isDark }: { modules: number; whole: number; isDark(x: number, y: number): boolean }): string {
  let path = ""
  for (let y = 0; y < modules; y++)
    for (let x = 0; x < modules; x++) {
      if (!isDark(x, y)) continue
      const from = x
      while (isDark(x + 1, y)) x++
      path += `M${from + wish.margin} ${y + wish.margin}h${x - from + 1}v1h-${x - from + 1}z`
    }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${wish.size}" height="${wish.size}" viewBox="0 0 ${whole} ${whole}" shape-rendering="crispEdges"><path fill="${hexOf(wish.bg)}" d="M0 0h${whole}v${whole}H0z"/><path fill="${hexOf(wish.fg)}" d="${path}"/></svg>`
}
