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
  const source = `${import.meta.dir}/tracker.ts`
  const values = [`--define=VARIANT="${variant}"`, `--define=NAME="${SCRIPT_NAME}"`]
  const command = [process.execPath, "build", source, "--target=browser", "--format=iife", "--minify", ...values]
  const { stdout, stderr, success } = Bun.spawnSync(command, { env: { ...process.env, BUN_BE_BUN: "1" } })
  if (!success) throw new Error(stderr.toString())
  return stdout.toString().trim()
}
