import { AppError } from "../domain/error.ts"
import type { Authorize } from "../web/router.ts"

/** Returns the authorization for the routes of one plugin, which also requires that the plugin is enabled. */
export function authorizePlugin(authorize: Authorize, feature: string, isOn: () => boolean): Authorize {
  /** Checks the switch after the authorization, so that strangers cannot learn whether a feature is enabled. */
  const whenOn = <Caller>(caller: Caller): Caller => {
    if (!isOn()) throw new AppError("feature_disabled", "This feature is disabled.")
    return caller
  }
  return {
    open: async (call, rule) => whenOn(await authorize.open(call, rule)),
    self: async (call, rule) => whenOn(await authorize.self(call, rule)),
    signedIn: (call, rule) => authorize.signedIn(call, { ...rule, feature }),
    instanceAdmin: (call, rule) => authorize.instanceAdmin(call, { ...rule, feature }),
    site: (call, rule) => authorize.site(call, { ...rule, feature }),
    organization: (call, rule) => authorize.organization(call, { ...rule, feature }),
  }
}
