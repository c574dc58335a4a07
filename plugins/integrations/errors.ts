import { errorsOf, type PluginError } from "#plugin"

/** Error codes of integrations. */
export const ERRORS = {
  integration_not_found: {
    status: 404,
    title: "The integration was not found",
    meaning: "The site has no integration with this id, or none of this kind. It may have been removed.",
  },
  webhook_not_found: {
    status: 404,
    title: "The webhook was not found",
    meaning: "The site has no webhook with this id. It may have been deleted, or belong to the organization as a whole.",
  },
  delivery_not_found: {
    status: 404,
    title: "The delivery was not found",
    meaning: "The webhook has no delivery with this id. Deliveries are kept for 30 days.",
  },
  hook_not_found: {
    status: 404,
    title: "The payment hook was not found",
    meaning:
      "There is no payment hook with this id or at this address. It may have been disabled or deleted. Create a new one, and enter its URL at the provider.",
  },
  alert_not_found: {
    status: 404,
    title: "The alert was not found",
    meaning: "The site has no alert with this id. It may have been deleted.",
  },
  report_not_found: {
    status: 404,
    title: "The report was not found",
    meaning: "The site has no report with this id, or you may not see it. It may have been deleted.",
  },
  too_many_recipients: {
    status: 422,
    title: "The report has too many recipients",
    meaning: "A report can have at most 50 recipients. Create another report for the others.",
  },
  invalid_signature: {
    status: 400,
    title: "The signature is not valid",
    meaning:
      "The event was not signed with a secret of this payment hook, its body was changed on the way, or its time differs by more than 5 minutes. Enter the provider's current signing secret.",
  },
  connection_failed: {
    status: 422,
    title: "The connection test failed",
    meaning: "The service did not accept the test, so nothing was stored. The member steps lists what happened in each step.",
  },
  invalid_oauth_state: {
    status: 400,
    title: "The request for access is not valid",
    meaning:
      "It was already used, is older than ten minutes, or was started by another session. Nothing was connected. Start again on the Integrations page.",
  },
  already_connected: {
    status: 409,
    title: "The service is connected already",
    meaning: "The site can have only one connection to this service. Change or remove the existing connection, whose id is in existing_id.",
  },
  not_connected: {
    status: 409,
    title: "The service is not connected",
    meaning: "No account of the service is connected, or the site has no property mapped. Connect it on the Integrations page.",
  },
  needs_reauth: {
    status: 409,
    title: "The account must be connected again",
    meaning: "The access was revoked or has expired. Connect the account again. Data that was fetched before stays available.",
  },
  scope_not_granted: {
    status: 422,
    title: "The access was not granted",
    meaning: "The account did not grant all required access. Connect it again, and allow all requested access.",
  },
  property_not_verified: {
    status: 422,
    title: "The property is not verified",
    meaning:
      "The account has not verified the property, so its data can't be fetched. Verify it at the service, or ask its owner for access.",
  },
  invalid_service_account: {
    status: 422,
    title: "The key of the service account is not valid",
    meaning: "The body does not contain the JSON key of a service account with an RSA key of at least 2,048 bits. Create a new key.",
  },
  unknown_event: {
    status: 422,
    title: "An event is unknown",
    meaning: "GET /api/private/integrations/events lists all events. A plugin that is not installed has none.",
  },
} as const satisfies Record<string, PluginError>

export const integrationError = errorsOf(ERRORS)
