import type { AreaProof, AreaProofKit, Scene } from "#plugin/test"

const LINK_PASSWORD = "a password for a link"
const link = (verb: string) => ({ auditEntry: { action: `links.link.${verb}`, target: ["link"] } }) as const
const template = (verb: string) => ({ auditEntry: { action: `links.utm-template.${verb}`, target: ["utm-template"] } }) as const
const domain = (verb: string) => ({ auditEntry: { action: `links.link-domain.${verb}`, target: ["link-domain"] } }) as const
const destination = "https://example.com/"
const NO_CLICK = "It answers what a visitor would get, and changes nothing."

/** Short links in the tests of all private routes. */
export default function proof({ fresh, made }: AreaProofKit): AreaProof {
  const link_id = (scene: Scene) => made(scene, `/sites/${scene.site}/links`, { destination, title: fresh("Link") })
  const things = {
    link_id,
    utm_template_id: (scene: Scene) => made(scene, `/sites/${scene.site}/utm-templates`, { name: fresh("Template") }),
    link_domain_id: (scene: Scene) => made(scene, `/sites/${scene.site}/link-domains`, { host: `${fresh("go")}.example` }),
  }

  async function deletedLink(scene: Scene): Promise<string | number> {
    const id = await link_id(scene)
    await scene.prepare(await scene.organizationOwner(), "DELETE", `/sites/${scene.site}/links/${id}`)
    return id
  }

  return {
    things,
    recipes: {
      "POST /sites/{site}/links": () => ({
        body: { destination, title: fresh("Link"), password: LINK_PASSWORD },
        auditEntry: { action: "links.link.create", target: ["link"], secrets: () => [LINK_PASSWORD, "argon2"] },
      }),
      "POST /sites/{site}/links/bulk": () => ({
        body: { op: "create", rows: [{ destination }] },
        auditEntry: { action: "links.link.create", target: ["link", "*"] },
      }),
      "POST /sites/{site}/links/import": () => ({
        body: { csv: `slug,destination,title,tags\n${fresh("slug")},${destination},,`, apply: true },
        auditEntry: { action: "links.link.create", target: ["link", "*"] },
      }),
      "GET /sites/{site}/links/slug-check": () => ({ query: `slug=${fresh("slug")}` }),
      "PATCH /sites/{site}/links/{link_id}": () => ({
        body: { title: fresh("Link"), password: LINK_PASSWORD },
        auditEntry: { action: "links.link.update", target: ["link"], secrets: () => [LINK_PASSWORD, "argon2"] },
      }),
      "DELETE /sites/{site}/links/{link_id}": () => link("delete"),
      "POST /sites/{site}/links/{link_id}/restore": async (scene) => ({ ids: { link_id: await deletedLink(scene) }, ...link("restore") }),
      "POST /sites/{site}/links/{link_id}/test": () => ({ body: {}, silent: NO_CLICK }),
      "GET /sites/{site}/links/{link_id}/breakdown": () => ({ query: "dimension=source" }),
      "POST /sites/{site}/utm-templates": () => ({ body: { name: fresh("Template") }, ...template("create") }),
      "PATCH /sites/{site}/utm-templates/{utm_template_id}": () => ({ body: { name: fresh("Template") }, ...template("update") }),
      "DELETE /sites/{site}/utm-templates/{utm_template_id}": () => template("delete"),
      "POST /sites/{site}/link-domains": () => ({ body: { host: `${fresh("go")}.example` }, ...domain("create") }),
      "PATCH /sites/{site}/link-domains/{link_domain_id}": () => ({ body: { root_destination: destination }, ...domain("update") }),
      "DELETE /sites/{site}/link-domains/{link_domain_id}": () => domain("delete"),
      "POST /sites/{site}/link-domains/{link_domain_id}/verify": () => ({
        silent: "Nothing may leave the instance of these tests, or nobody answers there.",
        refused: { status: 409, code: "domain_not_verified" },
      }),
    },
  }
}
