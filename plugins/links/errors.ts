import { errorsOf, type PluginError } from "#plugin"

/** Error codes of short links. */
export const ERRORS = {
  link_not_found: {
    status: 404,
    title: "The link was not found",
    meaning: "The site has no link with this id. It may have been deleted.",
  },
  template_not_found: {
    status: 404,
    title: "The template was not found",
    meaning: "The site has no campaign template with this id.",
  },
  domain_in_use: {
    status: 409,
    title: "The domain is in use",
    meaning: "The host is already a link domain, or links still use it.",
  },
  invalid_destination: {
    status: 422,
    title: "The destination is not valid",
    meaning: "A destination must be an absolute http or https URL without credentials. The member reason names the problem.",
  },
  destination_not_allowed: {
    status: 422,
    title: "The destination is not allowed",
    meaning: "The operator does not allow links to this host.",
  },
  redirect_loop: {
    status: 422,
    title: "The links form a redirect loop",
    meaning: "The links of this instance redirect to each other in a loop or through more than three links.",
  },
  utm_required: {
    status: 422,
    title: "A campaign field is missing",
    meaning: "Fields that the campaign template requires are empty. The member errors lists them.",
  },
  low_contrast: {
    status: 422,
    title: "The contrast is too low",
    meaning: "The colours of a QR code need a contrast of at least 4:1, with the darker colour in the foreground.",
  },
} as const satisfies Record<string, PluginError>

export const linkError = errorsOf(ERRORS)
