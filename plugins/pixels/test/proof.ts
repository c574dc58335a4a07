import type { AreaProof, AreaProofKit, Scene } from "#plugin/test"

const pixel = (verb: string) => ({ auditEntry: { action: `pixels.pixel.${verb}`, target: ["pixel"] } }) as const

/** Tracking pixels in the tests of all private routes. */
export default function proof({ fresh, made }: AreaProofKit): AreaProof {
  const pixel_id = (scene: Scene) => made(scene, `/sites/${scene.site}/pixels`, { name: fresh("Pixel"), kind: "email" })
  const things = { pixel_id }

  async function deletedPixel(scene: Scene): Promise<string | number> {
    const id = await pixel_id(scene)
    await scene.prepare(await scene.organizationOwner(), "DELETE", `/sites/${scene.site}/pixels/${id}`)
    return id
  }

  return {
    things,
    recipes: {
      "POST /sites/{site}/pixels": () => ({ body: { name: fresh("Pixel"), kind: "email" }, ...pixel("create") }),
      "PATCH /sites/{site}/pixels/{pixel_id}": () => ({ body: { name: fresh("Pixel") }, ...pixel("update") }),
      "DELETE /sites/{site}/pixels/{pixel_id}": () => pixel("delete"),
      "POST /sites/{site}/pixels/{pixel_id}/restore": async (scene) => ({
        ids: { pixel_id: await deletedPixel(scene) },
        ...pixel("restore"),
      }),
    },
  }
}
