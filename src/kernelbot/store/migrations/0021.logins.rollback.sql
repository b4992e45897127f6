DROP TABLE device_logins, login_attempts;
