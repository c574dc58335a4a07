import { afterAll, expect, test } from "bun:test"
import { openWorld, sceneOf, type World } from "../scene.ts"
import { makeCall, named, preparedCall, shortName } from "./recipes.ts"

/** Every route in the document rejects unknown query parameters and body fields, without any effect. */

const world: World = await openWorld()
afterAll(() => world[Symbol.asyncDispose]())

// The first user can be created only once. The OIDC routes are reached by links that identity providers extend with parameters.
const isApart = (name: string): boolean => name === "POST /setup" || name.startsWith("GET /auth/oidc")
const covered = world.operations.filter((operation) => !isApart(shortName(operation)))
const writes = covered.filter(({ method }) => method !== "GET")
// The body of an uploaded archive is a file, for which the document has no schema.
const bodiless = writes.filter(
  (operation) => Object.keys(operation.bodies).length === 0 && shortName(operation) !== "POST /admin/backups/upload",
)

test.each(named(covered))("%s rejects an unknown query parameter", async (_, operation) => {
  const scene = sceneOf(world, operation.permission === "instance_admin" ? "instance admin" : "owner")
  const prepared = await preparedCall(operation, scene)
  if (prepared.refused) return
  const answer = await makeCall(operation, scene, { ...prepared, path: `${prepared.path}${prepared.path.includes("?") ? "&" : "?"}zz=1` })
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 400, body: { code: "invalid_query" } })
})

test.each(named(bodiless))("%s accepts no body", async (_, operation) => {
  const scene = sceneOf(world, operation.permission === "instance_admin" ? "instance admin" : "owner")
  const prepared = await preparedCall(operation, scene)
  if (prepared.refused) return
  const answer = await makeCall(operation, scene, { ...prepared, body: { zz: 1 } })
  expect({ status: answer.status, body: answer.body }).toMatchObject({
    status: 422,
    body: { code: "validation_failed", errors: [{ pointer: "/zz", code: "unknown_field" }] },
  })
  // The rejected call still succeeds afterwards, with an empty object as the body.
  expect((await makeCall(operation, scene, { ...prepared, body: {} })).status).toBeLessThan(300)
})
