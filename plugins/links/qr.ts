import { deflateSync } from "bun"
import { AppError, ArgumentReader, type Fault, fault } from "#plugin"
import { linkError } from "./errors.ts"

/** Appearance of a QR code. */
interface QrStyle {
  format: "svg" | "png"
  /** Width of the image in pixels. */
  size: number
  ecc: "L" | "M" | "Q" | "H"
  /** In modules of the code. */
  margin: number
  fg: Colour
  bg: Colour
  /** Whether a square in the middle stays free for a logo. */
  logo: boolean
}

const MIN_CONTRAST = 4
const NAMES = ["format", "size", "ecc", "margin", "fg", "bg", "logo"]

/** Parses the parameters. Throws `invalid_query` with all faults at once, or `low_contrast`. */
export function readQr(query: Record<string, unknown>): QrStyle {
  const reader = new ArgumentReader(query, NAMES)
  const logo = reader.choice("logo", ["true", "false"]) === "true"
  const style = {
    format: reader.choice("format", ["svg", "png"]) ?? "svg",
    size: reader.integer("size", { min: 64, max: 2_048 }) ?? 512,
    // The error correction has to restore what the logo covers.
    ecc: reader.choice("ecc", ["L", "M", "Q", "H"]) ?? (logo ? "H" : "M"),
    margin: reader.integer("margin", { min: 0, max: 16 }) ?? 4,
    fg: colour(reader, "fg", [0, 0, 0]),
    bg: colour(reader, "bg", [255, 255, 255]),
    logo,
  } as const
  if (logo && style.ecc !== "H") reader.refuse(fault("/ecc", "unsupported_combination", "must be H with a logo"))
  refuse(reader.faults())
  const [light, dark] = [luminance(style.bg), luminance(style.fg)]
  if ((light + 0.05) / (dark + 0.05) < MIN_CONTRAST)
    throw linkError("low_contrast", "Cameras can't read these colours. Use a contrast of at least 4:1.")
  return style
}

function refuse(errors: readonly Fault[]): void {
  if (errors.length > 0) throw new AppError("invalid_query", "Some parameters are not valid.", { errors: errors.slice(0, 20) })
}

function colour(reader: ArgumentReader, name: string, fallback: Colour): Colour {
  const text = reader.text(name, { min: 1, max: 7 })
  if (text === undefined) return fallback
  const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text) ?? []
  if (digits === undefined) {
    reader.refuse(fault(`/${name}`, "invalid_choice", "must be a colour of six or three hex digits"))
    return fallback
  }
  const hex = digits.length === 3 ? digits.replace(/./g, "$&$&") : digits
  return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Colour // three matches
}

/** Returns the relative luminance of a colour by WCAG 2. */
function luminance(of: Colour): number {
  const [red, green, blue] = of.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

/** Draws the QR code of a URL. Throws `invalid_query` if it does not fit into the requested size. */
export async function drawQr(text: string, style: QrStyle): Promise<{ type: string; body: string | Uint8Array<ArrayBuffer> }> {
  // Imported late because few requests need it.
  const { encode } = await import("uqr")
  const { data, size: modules } = encode(text, { ecc: style.ecc, border: 0, boostEcc: false })
  const isDark = (x: number, y: number): boolean => (data[y]?.[x] ?? false) && !(style.logo && isInMiddle(x, y, modules))
  const whole = modules + 2 * style.margin
  if (style.format === "svg") return { type: "image/svg+xml", body: svg(style, { modules, whole, isDark }) }
  const scale = Math.floor(style.size / whole)
  if (scale < 1) refuse([fault("/size", "out_of_range", `must be at least ${whole} for this code`)])
  const start = Math.floor((style.size - scale * modules) / 2)
  const moduleAt = (dot: number) => Math.floor((dot - start) / scale)
  return {
    type: "image/png",
    body: twoColourPng(style.size, { back: style.bg, front: style.fg }, (x, y) => isDark(moduleAt(x), moduleAt(y))),
  }
}

/** Returns whether a module is in the space for the logo. A fifth of the width can be restored by the highest error correction. */
function isInMiddle(x: number, y: number, modules: number): boolean {
  const half = modules / 10
  return Math.abs(x + 0.5 - modules / 2) < half && Math.abs(y + 0.5 - modules / 2) < half
}

const hexOf = (of: Colour): string => `#${Uint8Array.from(of).toHex()}`

function svg(
  style: QrStyle,
  { modules, whole, isDark }: { modules: number; whole: number; isDark(x: number, y: number): boolean },
): string {
  let path = ""
  for (let y = 0; y < modules; y++)
    for (let x = 0; x < modules; x++) {
      if (!isDark(x, y)) continue
      const from = x
      while (isDark(x + 1, y)) x++
      path += `M${from + style.margin} ${y + style.margin}h${x - from + 1}v1h-${x - from + 1}z`
    }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${style.size}" height="${style.size}" viewBox="0 0 ${whole} ${whole}" shape-rendering="crispEdges"><path fill="${hexOf(style.bg)}" d="M0 0h${whole}v${whole}H0z"/><path fill="${hexOf(style.fg)}" d="${path}"/></svg>`
}

type Colour = readonly [red: number, green: number, blue: number]

const SIGNATURE = [137, 80, 78, 71, 13, 10, 26, 10]
const PALETTE = 3

/** Encodes an image of two colours as PNG with one bit per dot. `isFront` returns the colour of a dot. */
function twoColourPng(
  size: number,
  colours: { back: Colour; front: Colour },
  isFront: (x: number, y: number) => boolean,
): Uint8Array<ArrayBuffer> {
  const rowBytes = Math.ceil(size / 8)
  // Each row begins with the byte of its filter, which is 0 for none.
  const rows = new Uint8Array((rowBytes + 1) * size)
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) if (isFront(x, y)) rows[y * (rowBytes + 1) + 1 + (x >> 3)]! |= 0x80 >> (x & 7)
  const header = new DataView(new ArrayBuffer(13))
  header.setUint32(0, size)
  header.setUint32(4, size)
  header.setUint8(8, 1)
  header.setUint8(9, PALETTE)
  const parts = [
    Uint8Array.from(SIGNATURE),
    chunk("IHDR", new Uint8Array(header.buffer)),
    chunk("PLTE", Uint8Array.from([...colours.back, ...colours.front])),
    chunk("IDAT", zlib(rows)),
    chunk("IEND", new Uint8Array()),
  ]
  return new Uint8Array(Buffer.concat(parts))
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(data.length + 12)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, data.length)
  bytes.set(new TextEncoder().encode(type), 4)
  bytes.set(data, 8)
  view.setUint32(data.length + 8, Bun.hash.crc32(bytes.subarray(4, data.length + 8)))
  return bytes
}

/** Compresses with raw deflate and adds the header and the checksum of zlib. */
function zlib(data: Uint8Array<ArrayBuffer>): Uint8Array {
  const sum = new DataView(new ArrayBuffer(4))
  sum.setUint32(0, Bun.hash.adler32(data))
  return Buffer.concat([Uint8Array.from([0x78, 0x9c]), deflateSync(data), new Uint8Array(sum.buffer)])
}
