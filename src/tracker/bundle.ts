/** Variants of the tracker: `native` is served as `/js/script.js`, `plausible` under the names of Plausible's scripts, `umami` as `/script.js`, `goatcounter` as `/count.js`. */
export type Variant = "native" | "plausible" | "umami" | "goatcounter"

/** Placeholders that the server replaces in a script: the endpoint for events and the requested script name. */
export const COLLECT_PATH = '"/api/event"'
export const SCRIPT_NAME = "{name}"

/**
 * Builds the tracker as one minified script without imports. It is called as a macro, when the product is bundled or when it starts
 * from source, so that the script is never out of date. It runs the command, because `Bun.build` is not available in macros.
 */
export function trackerScript(variant: Variant = "native"): string {
  const values = [`--define=VARIANT="${variant}"`, `--define=NAME="${SCRIPT_NAME}"`]
  return builtScript("tracker.ts", "iife", values)
}

/** Builds the script that measures web vitals, as one module without imports. Called as a macro, too. */
export const vitalsScript = (): string => builtScript("vitals.ts", "esm", [])

/** Nothing is resolved: the tracker names the script of web vitals by its path on the server. */
function builtScript(source: string, format: "iife" | "esm", values: readonly string[]): string {
  const path = `${import.meta.dir}/${source}`
  const command = [process.execPath, "build", path, "--target=browser", `--format=${format}`, "--minify", "--external=*", ...values]
  const { stdout, stderr, success } = Bun.spawnSync(command, { env: { ...process.env, BUN_BE_BUN: "1" } })
  if (!success) throw new Error(stderr.toString())
  return stdout.toString().trim()
}
