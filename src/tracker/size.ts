import { SCRIPT_NAME, trackerScript, type Variant } from "./bundle.ts"

/** Bytes of each script after gzip −9 (metrics.md 17.1): every visitor of every site loads one. */
const SIZE_LIMITS: Readonly<Record<Variant, number>> = { native: 2_048, plausible: 2_560, umami: 2_560, goatcounter: 2_560 }

/** The longest names a script is served under; the name stands in its text. */
const LONGEST_NAMES = ["script.hash.local.manual.outbound-links.file-downloads", "pa-00112233-4455-6677-8899-aabbccddeeff"]

/** Bytes of the script as it is served, under its least favourable name. */
export function scriptSize(variant: Variant): number {
  const text = trackerScript(variant)
  return Math.max(...LONGEST_NAMES.map((name) => Bun.gzipSync(text.replaceAll(SCRIPT_NAME, name), { level: 9 }).byteLength))
}

/** The build stops here when a script has outgrown its limit. Gives a line to print. */
export function checkScriptSizes(): string {
  const sizes = (["native", "plausible", "umami", "goatcounter"] as const).map((variant) => ({
    variant,
    size: scriptSize(variant),
    limit: SIZE_LIMITS[variant],
  }))
  for (const { variant, size, limit } of sizes) {
    if (size > limit) throw new Error(`The ${variant} tracker has ${size} bytes after gzip, over its limit of ${limit}`)
  }
  return sizes.map(({ variant, size, limit }) => `${variant} tracker: ${size} of ${limit} bytes`).join(", ")
}
