import { fresh, type Scene, signedIn } from "../scene.ts"
import { AREA_PROOFS, made } from "./area-proofs.ts"

/** For each path parameter, creates such a resource for the scene's caller and returns its id. */
export const THINGS: Readonly<Record<string, (scene: Scene) => Promise<string | number>>> = {
  goal_id: (scene) => made(scene, `/sites/${scene.site}/goals`, { kind: "event", value: fresh("event"), name: fresh("Goal") }),
  funnel_id: (scene) =>
    made(scene, `/sites/${scene.site}/funnels`, {
      name: fresh("Funnel"),
      steps: [
        { type: "page", value: "/" },
        { type: "event", value: "signup" },
      ],
    }),
  // Personal ones can be changed by users of any role.
  segment_id: (scene) => ownMade(scene, "segments", { name: fresh("Segment"), scope: "personal", filters: FILTERS }),
  annotation_id: (scene) => ownMade(scene, "annotations", { at: "2026-11-20", text: fresh("Note"), scope: "personal" }),
  api_key_id: (scene) =>
    made(scene, `/organizations/${scene.organization}/api-keys`, { name: fresh("Key"), scopes: ["stats:read"], site_access: "all" }),
  domain_id: (scene) => made(scene, `/organizations/${scene.organization}/domains`, { domain: `${fresh("mail")}.example` }),
  provider_id: (scene) => made(scene, `/organizations/${scene.organization}/providers`, PROVIDER),
  invitation_id: (scene) =>
    made(scene, `/organizations/${scene.organization}/members/invite`, { email: `${fresh("guest")}@example.com`, role: "viewer" }),
  user: async (scene) => (await scene.createUser({ role: "viewer" })).id,
  session_id: async (scene) => {
    const caller = await scene.caller()
    const { data } = await scene.prepare(caller, "GET", "/me/sessions")
    return data[0].id
  },
  shield_id: (scene) => made(scene, `/sites/${scene.site}/shields`, { kind: "page", value: `/${fresh("page")}` }),
  host_proof_id: async (scene) => made(scene, `/sites/${scene.site}/settings/host-proofs`, { host: await ownHost(scene) }),
  visit: recordedVisit,
  share_id: (scene) => made(scene, `/sites/${scene.site}/shares`, { name: fresh("Share") }),
  ...Object.assign({}, ...AREA_PROOFS.map(({ things }) => things)),
  organization_id: async (scene) => scene.organization,
  site_id: async (scene) => scene.site,
  user_id: async (scene) => (await signedIn(scene.world, {})).id,
  erase_id: async (scene) => {
    const organizationOwner = await scene.organizationOwner()
    const { confirm } = await scene.prepare(organizationOwner, "POST", `/sites/${scene.site}/erase/preview`, ERASURE)
    return (await scene.prepare(organizationOwner, "POST", `/sites/${scene.site}/erase`, { ...ERASURE, confirm })).id
  },
  takeout_id: async (scene) => (await scene.prepare(await scene.organizationOwner(), "POST", `/sites/${scene.site}/takeout`, {})).id,
  backup_id: async (scene) => {
    const { jobs } = scene.world.instance.app.instance
    // Only one backup runs at a time.
    await jobs.drain()
    scene.world.instance.clock.advance(1_000)
    await scene.prepare(await scene.instanceAdmin(), "POST", "/admin/backups", {})
    await jobs.drain()
    const { data } = await scene.prepare(await scene.instanceAdmin(), "GET", "/admin/backups")
    return data[0].id
  },
  host: disputedHost,
  name: async (scene) => (await scene.prepare(await scene.instanceAdmin(), "GET", "/admin/schedules")).data[0].name,
  provider: async () => "oidc",
}

/** Adds a host to the scene's site and returns it. */
export async function ownHost(scene: Scene): Promise<string> {
  const { sites } = scene.world.instance.app.instance
  const host = `${fresh("host")}.example`
  const { hosts } = await sites.get(Number(scene.site))
  await sites.update(Number(scene.site), { hosts: [...hosts.slice(0, 1), host] })
  return host
}

/** Returns a host of the scene's site that a site of another organization lists as well. */
export async function disputedHost(scene: Scene): Promise<string> {
  const { organizations, sites } = scene.world.instance.app.instance
  const host = await ownHost(scene)
  const { id } = await organizations.create({ name: fresh("Rival") })
  await sites.create(id, { name: fresh("Rival"), hosts: [host] })
  return host
}

/** Records a visit of the scene's site and returns its pseudonym. */
export async function recordedVisit(scene: Scene): Promise<string> {
  const { instance } = scene.world
  const { hosts, tracking_id } = await instance.app.instance.sites.get(Number(scene.site))
  await instance.collect({ n: "pageview", d: tracking_id, u: `https://${hosts[0]}/` })
  const { data } = await scene.prepare(await scene.organizationOwner(), "GET", `/sites/${scene.site}/stats/visits`)
  return data[0].visit
}

/** A range without events. An erasure of data waits until no report reads it, and the clock stands still here. */
export const ERASURE = { from: "2020-01-01", to: "2020-01-02", filters: [] }
/** The provider is not contacted. */
export const PROVIDER = { name: "Acme", issuer: "https://login.example.org", client_id: "footfall", client_secret: "between us two" }
export const FILTERS = [{ dimension: "page", operator: "is", values: ["/pricing"] }]

const ownMade = async (scene: Scene, things: string, body: object): Promise<number> =>
  (await scene.prepare(await scene.caller(), "POST", `/sites/${scene.site}/${things}`, body)).id
