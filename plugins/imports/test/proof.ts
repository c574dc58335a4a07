import type { AreaProof, AreaProofKit, Scene } from "#plugin/test"

const anImport = (verb: string) => ({ auditEntry: { action: `imports.import.${verb}`, target: ["import"] } }) as const

/** Imports in the proofs of all private routes. */
export default function proof({ fresh, made }: AreaProofKit): AreaProof {
  const input = () => {
    const row = `2026-10-01T10:00:00Z,/${fresh("page")},a,shop.example,pageview`
    return {
      source: "simple_analytics",
      files: [{ name: "export.csv", content: `added_iso,path,session_id,hostname,datapoint\n${row}\n` }],
    }
  }
  const drain = (scene: Scene) => scene.world.instance.app.instance.jobs.drain()
  const import_id = (scene: Scene) => made(scene, `/sites/${scene.site}/imports`, input())

  async function completed(scene: Scene): Promise<string | number> {
    const id = await import_id(scene)
    await drain(scene)
    return id
  }
  /** Fails because its lines are rejected. */
  async function failed(scene: Scene): Promise<string | number> {
    const { source, files } = input()
    const content = files[0]!.content + "x,/,b,shop.example,pageview\n".repeat(3)
    const id = await made(scene, `/sites/${scene.site}/imports`, { source, files: [{ name: "export.csv", content }] })
    await drain(scene)
    return id
  }
  const upload = async (scene: Scene): Promise<string> =>
    (await scene.prepare(await scene.caller(), "POST", `/sites/${scene.site}/imports/uploads`, { name: "export.csv", bytes: 10 })).upload_id

  return {
    things: { import_id, upload },
    recipes: {
      "POST /sites/{site}/imports": () => ({ body: input(), ...anImport("create") }),
      "POST /sites/{site}/imports/preview": () => ({ body: input(), silent: "it changes nothing" }),
      "POST /sites/{site}/imports/uploads": () => ({
        body: { name: "export.csv", bytes: 10 },
        silent: "an upload is no record before it is imported",
      }),
      "PUT /sites/{site}/imports/uploads/{upload}": () => ({
        query: "offset=0",
        body: new Uint8Array(10),
        headers: { "content-type": "application/octet-stream" },
        silent: "an upload is no record before it is imported",
      }),
      "DELETE /sites/{site}/imports/uploads/{upload}": () => ({ silent: "an upload is no record before it is imported" }),
      "PATCH /sites/{site}/imports/{import_id}": () => ({ body: { label: fresh("Import") }, ...anImport("update") }),
      "POST /sites/{site}/imports/{import_id}/cancel": () => anImport("cancel"),
      "POST /sites/{site}/imports/{import_id}/undo": async (scene) => ({ ids: { import_id: await completed(scene) }, ...anImport("undo") }),
      "POST /sites/{site}/imports/{import_id}/retry": async (scene) => ({ ids: { import_id: await failed(scene) }, ...anImport("retry") }),
    },
  }
}
