import { join } from "node:path"
import { fresh, type Scene } from "../scene.ts"
import type { Recipe } from "./recipes.ts"

type Thing = (scene: Scene) => Promise<string | number>

/** What the area of a plugin gives to the proofs of all private routes: `plugins/<id>/test/proof.ts` exports it, and goes with it. */
export interface AreaProof {
  /** How one of each kind of thing that its paths name is made; its id. */
  things: Readonly<Record<string, Thing>>
  /** How each of its calls succeeds. */
  recipes: Readonly<Record<string, Recipe>>
}

/** What an area makes its proof with. */
export interface AreaProofKit {
  /** A name that nothing has yet. */
  fresh: typeof fresh
  /** The id of what a POST to a path makes, by somebody who may. */
  made(scene: Scene, path: string, body: object): Promise<string | number>
}

export const made: AreaProofKit["made"] = async (scene, path, body) => (await scene.prepare(await scene.boss(), "POST", path, body)).id

const PLUGINS = join(import.meta.dir, "../../../../plugins")

/** Of the plugins whose folders are there. */
export const AREA_PROOFS: readonly AreaProof[] = await Promise.all(
  [...new Bun.Glob("*/test/proof.ts").scanSync(PLUGINS)].sort().map(async (file) => {
    const { default: proof }: { default: (kit: AreaProofKit) => AreaProof } = await import(join(PLUGINS, file))
    return proof({ fresh, made })
  }),
)
