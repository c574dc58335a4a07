/**
 * The library for passkeys, loaded when somebody first uses one. It needs a polyfill that it imports itself, which a bundle
 * moves behind what needs it: so it comes first here.
 */
export async function webauthn() {
  await import("reflect-metadata")
  return import("@simplewebauthn/server")
}

/** Its parts for single values. */
export async function webauthnParts() {
  await import("reflect-metadata")
  return import("@simplewebauthn/server/helpers")
}
