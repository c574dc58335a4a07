import { afterAll, expect, test } from "bun:test"
import { inflateSync } from "node:zlib"
import jsQR from "jsqr"
import { type LinkStand, linkStand, PATH } from "./kit.ts"

const destination = "https://example.com/"

/** A square picture with four bytes per pixel. */
interface Picture {
  size: number
  dots: Uint8ClampedArray
}
const readBack = ({ size, dots }: Picture): string | undefined => jsQR(dots, size, size, { inversionAttempts: "dontInvert" })?.data

async function fileOf(stand: LinkStand, id: number, query: string): Promise<{ type: string | null; bytes: Buffer }> {
  const cookie = await stand.instance.signIn({ role: "viewer" })
  const answer = await stand.instance.fetch(new Request(`http://localhost${PATH}/${id}/qr?${query}`, { headers: { cookie } }))
  expect(answer.status).toBe(200)
  return { type: answer.headers.get("content-type"), bytes: Buffer.from(await answer.arrayBuffer()) }
}

/** Decodes a PNG with two colours, one bit per pixel and no filters. */
function pngPicture(bytes: Buffer): Picture & { head: number[] } {
  const at = (type: string) => {
    const start = bytes.indexOf(type)
    return bytes.subarray(start + 4, start + 4 + bytes.readUInt32BE(start - 4))
  }
  const [size, palette, rows] = [bytes.readUInt32BE(16), at("PLTE"), inflateSync(at("IDAT"))]
  const rowBytes = Math.ceil(size / 8)
  expect(rows.length).toBe(size * (1 + rowBytes))
  const dots = new Uint8ClampedArray(size * size * 4)
  for (let dot = 0; dot < size * size; dot++) {
    const [x, y] = [dot % size, Math.floor(dot / size)]
    const colour = (rows[y * (rowBytes + 1) + 1 + (x >> 3)]! >> (7 - (x & 7))) & 1
    dots.set([...palette.subarray(colour * 3, colour * 3 + 3), 255], dot * 4)
  }
  return { size, dots, head: [size, bytes.readUInt32BE(20), bytes[24]!, bytes[25]!] }
}

const MODULE_DOTS = 8

/** Draws the rows of dark modules of the SVG path. */
function svgPicture(text: string): Picture {
  const size = Number(/viewBox="0 0 (\d+)/.exec(text)![1]) * MODULE_DOTS
  const dots = new Uint8ClampedArray(size * size * 4).fill(255)
  const [, path] = [...text.matchAll(/ d="([^"]+)"/g)].map(([, each]) => each!)
  for (const [, left, top, width] of path!.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g))
    paint(
      { size, dots },
      { left: Number(left) * MODULE_DOTS, top: Number(top) * MODULE_DOTS, width: Number(width) * MODULE_DOTS, height: MODULE_DOTS },
    )
  return { size, dots }
}

function paint({ size, dots }: Picture, { left, top, width, height }: { left: number; top: number; width: number; height: number }): void {
  for (let y = top; y < top + height; y++) for (let x = left; x < left + width; x++) dots.set([0, 0, 0, 255], (y * size + x) * 4)
}

/** Returns the square that a code without a margin leaves free for a logo: slightly less than a fifth of the width. */
function middleOf({ size }: Picture) {
  const width = Math.floor(size * 0.17)
  return { left: Math.floor((size - width) / 2), top: Math.floor((size - width) / 2), width, height: width }
}

const OWN = "http://localhost:9000"
const LONG = `http://${"a-rather-long-label.".repeat(9)}example`
const stands = { [OWN]: await linkStand({ settings: { base_url: OWN } }), [LONG]: await linkStand({ settings: { base_url: LONG } }) }
afterAll(() => Promise.all(Object.values(stands).map((stand) => stand[Symbol.asyncDispose]())))

let made = 0
/** Creates a link with a slug of the given length. */
async function linkOn(base: string, length: number): Promise<{ stand: LinkStand; id: number; address: string }> {
  const stand = stands[base]!
  const slug = `${++made}-of-the-year`.padEnd(length, "-and-so-on").slice(0, length)
  const { id } = await stand.make({ destination, slug })
  return { stand, id, address: `${base}/l/${slug}?qr=1` }
}

test.each([
  [OWN, 6, "format=png"],
  [OWN, 6, "format=png&size=2048&ecc=L&margin=1"],
  [OWN, 6, "format=png&size=150&ecc=H&margin=16"],
  [OWN, 6, "format=png&fg=112233&bg=ffeecc&ecc=Q"],
  [OWN, 6, "format=svg"],
  [OWN, 6, "format=svg&ecc=H&margin=2"],
  [LONG, 64, "format=png&size=600"],
  [LONG, 64, "format=svg&ecc=H"],
  [OWN, 6, "format=png&logo=true"],
  [OWN, 6, "format=svg&logo=true&ecc=H"],
  [LONG, 64, "format=png&size=800&logo=true"],
  [LONG, 64, "format=svg&logo=true"],
])("the code for %s/l/ and %i characters as %s decodes to its address", async (base, length, query) => {
  const { stand, id, address } = await linkOn(base, length)
  const { type, bytes } = await fileOf(stand, id, query)
  const picture = type === "image/png" ? pngPicture(bytes) : svgPicture(bytes.toString())
  expect(readBack(picture)).toBe(address)
})

test.each([
  [OWN, 6],
  [OWN, 64],
  [LONG, 64],
])("with a logo, the code for %s/l/ and %i characters has a free centre and can be read with a dark logo on it", async (base, length) => {
  const { stand, id, address } = await linkOn(base, length)
  const picture = svgPicture((await fileOf(stand, id, "logo=true&margin=0")).bytes.toString())
  const middle = middleOf(picture)
  const dark = (): number => {
    let count = 0
    for (let y = middle.top; y < middle.top + middle.height; y++)
      for (let x = middle.left; x < middle.left + middle.width; x++) count += Number(picture.dots[(y * picture.size + x) * 4] === 0)
    return count
  }
  expect(dark()).toBe(0)
  paint(picture, middle)
  expect(dark()).toBe(middle.width * middle.height)
  expect(readBack(withMargin(picture))).toBe(address)
})

/** Adds a margin as printed codes have. */
function withMargin({ size, dots }: Picture): Picture {
  const border = 4 * MODULE_DOTS
  const whole = size + 2 * border
  const wider = new Uint8ClampedArray(whole * whole * 4).fill(255)
  for (let y = 0; y < size; y++) wider.set(dots.subarray(y * size * 4, (y + 1) * size * 4), ((y + border) * whole + border) * 4)
  return { size: whole, dots: wider }
}

test("renders a QR code with the requested size, format and colours", async () => {
  const { stand, id } = await linkOn(OWN, 6)
  const svg = await fileOf(stand, id, "size=256&margin=2&fg=112233&bg=%23ffffff")
  expect(svg.type).toBe("image/svg+xml")
  expect(svg.bytes.toString()).toContain('width="256" height="256" viewBox="0 0 33 33"')
  expect(svg.bytes.toString()).toContain('fill="#112233"')
  const short = (await fileOf(stand, id, "fg=%23A1c&bg=fff")).bytes.toString()
  expect([...short.matchAll(/fill="(\S+)"/g)].map(([, colour]) => colour)).toEqual(["#ffffff", "#aa11cc"])
  const png = await fileOf(stand, id, "format=png&size=300&ecc=H")
  expect(png.type).toBe("image/png")
  // Width, height, bits per pixel and the palette flag.
  expect(pngPicture(png.bytes).head).toEqual([300, 300, 1, 3])
})

test.each([
  ["fg=777777&bg=888888", 422, "low_contrast"],
  ["fg=ffffff&bg=000000", 422, "low_contrast"],
  ["fg=red", 400, "invalid_query"],
  ["fg=1234", 400, "invalid_query"],
  ["fg=777&bg=888", 422, "low_contrast"],
  ["size=63", 400, "invalid_query"],
  ["size=2049", 400, "invalid_query"],
  ["margin=17", 400, "invalid_query"],
  ["ecc=X", 400, "invalid_query"],
  ["format=gif", 400, "invalid_query"],
  ["logo=true&ecc=L", 400, "invalid_query"],
])("rejects a code with %s", async (query, status, code) => {
  const { stand, id } = await linkOn(OWN, 6)
  expect(await stand.ask("GET", `${PATH}/${id}/qr?${query}`)).toMatchObject({ status, body: { code } })
})
