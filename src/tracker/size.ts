import { SCRIPT_NAME, trackerScript, type Variant, vitalsScript } from "./bundle.ts"

/** Maximum size of each script in bytes after gzip −9 (metrics.md 17.1). */
const SIZE_LIMITS: Readonly<Record<Variant, number>> = { native: 2_048, plausible: 2_560, umami: 2_560, goatcounter: 2_560 }

/** The longest name of each script. The name is part of the script's text and so of its size. */
const LONGEST_NAMES = ["script.hash.local.manual.outbound-links.file-downloads", "pa-00112233-4455-6677-8899-aabbccddeeff"]

/** Returns the size of a script as it is served under its longest name, in bytes. */
export function scriptSize(variant: Variant): number {
  const text = trackerScript(variant)
  return Math.max(...LONGEST_NAMES.map((name) => Bun.gzipSync(text.replaceAll(SCRIPT_NAME, name), { level: 9 }).byteLength))
}

/** Maximum size of the script that measures web vitals, and its size, in bytes after gzip −9. */
export const VITALS_LIMIT = 2_048
export const vitalsSize = (): number => Bun.gzipSync(vitalsScript(), { level: 9 }).byteLength

/** Returns a line with the sizes for the build output. Throws if a script exceeds its limit. */
export function checkScriptSizes(): string {
  const trackers = (["native", "plausible", "umami", "goatcounter"] as const).map((variant) => ({
    name: `${variant} tracker`,
    size: scriptSize(variant),
    limit: SIZE_LIMITS[variant],
  }))
  const sizes = [...trackers, { name: "web vitals", size: vitalsSize(), limit: VITALS_LIMIT }]
  for (const { name, size, limit } of sizes) {
    if (size > limit) throw new Error(`The script ${name} has ${size} bytes after gzip, over its limit of ${limit}`)
  }
  return sizes.map(({ name, size, limit }) => `${name}: ${size} of ${limit} bytes`).join(", ")
}
