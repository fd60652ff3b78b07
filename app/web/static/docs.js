// The reference of calls, drawn by Swagger UI from the service's own OpenAPI document.
window.SwaggerUIBundle({ url: "/openapi.json", dom_id: "#reference", deepLinking: true, validatorUrl: null });
