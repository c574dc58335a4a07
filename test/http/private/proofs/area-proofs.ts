import { join } from "node:path"
import { fresh, type Scene } from "../scene.ts"
import type { Recipe } from "./recipes.ts"

type Thing = (scene: Scene) => Promise<string | number>

/** The recipes that a plugin's area contributes to the tests of all private routes. Exported by `plugins/<id>/test/proof.ts`, and deleted with the plugin. */
export interface AreaProof {
  /** For each parameter in the area's paths, creates such a resource and returns its id. */
  things: Readonly<Record<string, Thing>>
  /** For each call of the area, how it succeeds. */
  recipes: Readonly<Record<string, Recipe>>
}

/** Functions that an area uses in its recipes. */
export interface AreaProofKit {
  /** Returns a unique name. */
  fresh: typeof fresh
  /** Creates a resource by a POST as the organization's owner, and returns its id. */
  made(scene: Scene, path: string, body: object): Promise<string | number>
}

export const made: AreaProofKit["made"] = async (scene, path, body) =>
  (await scene.prepare(await scene.organizationOwner(), "POST", path, body)).id

const PLUGINS = join(import.meta.dir, "../../../../plugins")

/** The recipes of all plugins in the checkout. */
export const AREA_PROOFS: readonly AreaProof[] = await Promise.all(
  [...new Bun.Glob("*/test/proof.ts").scanSync(PLUGINS)].sort().map(async (file) => {
    const { default: proof }: { default: (kit: AreaProofKit) => AreaProof } = await import(join(PLUGINS, file))
    return proof({ fresh, made })
  }),
)
