import type { AreaProof, AreaProofKit, Scene } from "#plugin/test"

const cohort = (verb: string) => ({ auditEntry: { action: `cohorts.cohort.${verb}`, target: ["cohort"] } }) as const
/** A definition that looks at one day, so that it can be evaluated in every identity mode. */
const definition = { conditions: [{ type: "event", value: "signup", window: { type: "last_days", days: 1 } }] }
const SHORT = { refused: { status: 422, code: "identity_insufficient" } } as const
const READS = "it only reads"

/** Cohorts in the proofs of all private routes. The sites are in daily mode, in which most reports on people are refused. */
export default function proof({ fresh, made }: AreaProofKit): AreaProof {
  const cohort_id = (scene: Scene) => made(scene, `/sites/${scene.site}/cohorts`, { name: fresh("Cohort"), definition })
  const siteOf = (scene: Scene) => scene.world.instance.app.instance.sites.directory.byId(Number(scene.site))!

  /** Records a visit and returns the token of its visitor. */
  async function person(scene: Scene): Promise<string> {
    const { instance } = scene.world
    const site = siteOf(scene)
    const url = `https://${site.hosts[0]!.replace("*.", "www.")}/${fresh("page")}`
    await instance.collect({ n: "pageview", u: url, d: site.tracking_id })
    const [token] = await instance.app.instance.people.pseudonymsOf(site, [0])
    return token!
  }
  const erasure_id = (scene: Scene) => made(scene, `/sites/${scene.site}/people/erase`, { user_id: fresh("user"), confirm: true })
  async function deletedCohort(scene: Scene): Promise<string | number> {
    const id = await cohort_id(scene)
    await scene.prepare(await scene.organizationOwner(), "DELETE", `/sites/${scene.site}/cohorts/${id}`)
    return id
  }

  return {
    things: { cohort_id, person, erasure_id },
    recipes: {
      "POST /sites/{site}/cohorts": () => ({ body: { name: fresh("Cohort"), definition }, ...cohort("create") }),
      "POST /sites/{site}/cohorts/evaluate": () => ({ body: { definition, trend_days: 0 }, silent: READS }),
      "PATCH /sites/{site}/cohorts/{cohort_id}": () => ({ body: { description: fresh("Note") }, ...cohort("update") }),
      "DELETE /sites/{site}/cohorts/{cohort_id}": () => cohort("delete"),
      "POST /sites/{site}/cohorts/{cohort_id}/restore": async (scene) => ({
        ids: { cohort_id: await deletedCohort(scene) },
        ...cohort("restore"),
      }),
      "POST /sites/{site}/cohorts/{cohort_id}/refresh": () => ({ silent: "it computes a number again" }),
      "POST /sites/{site}/cohorts/{cohort_id}/freeze": () => ({ body: { name: fresh("Frozen") }, ...cohort("freeze") }),
      "GET /sites/{site}/cohorts/{cohort_id}/members": () => SHORT,
      "POST /sites/{site}/retention": () => ({
        body: { cohort_by: "day", periods: 1, from: TODAY, to: TODAY },
        silent: READS,
      }),
      "GET /sites/{site}/power-users": () => SHORT,
      "GET /sites/{site}/power-users/histogram": () => SHORT,
      "GET /sites/{site}/engagement": () => ({ query: "metrics=dau" }),
      "POST /sites/{site}/people/erase": () => ({
        body: { user_id: fresh("user"), confirm: true },
        auditEntry: { action: "cohorts.person.erase", target: ["person"] },
      }),
    },
  }
}

/** The day of the instances in these proofs. */
const TODAY = "2026-11-21"
